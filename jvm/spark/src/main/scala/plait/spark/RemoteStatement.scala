// SPDX-License-Identifier: Apache-2.0
package plait.spark

import java.util.Base64

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.{CommandExecutionMode, QueryExecution, SimpleMode}
import org.apache.spark.sql.plait.{AnalysedQuery, ArrowShape}

import plait.spark.continuous.{ContinuousStatement, FilledTables, StreamStart}
import plait.spark.guard.StatementGuard
import plait.spark.result.{Json, OperationRequest}
import plait.spark.sql.ClauseParameters
import plait.spark.sql.ClauseParameters.Marker

/** A statement of a remote client, admitted and run; or told of.
  *
  *   1. In [[validated]] and [[explained]] nothing is executed, of a query or of a command.
  *   1. What the caller may not run is not told of either.
  *   1. In [[validated]] and [[explained]] a parameter without a value is NULL: `SELECT :a` has a column of
  *      the type VOID. Where Spark does not take a NULL, as in `LIMIT :n`, all of them are 1.
  */
private[spark] object RemoteStatement {
  private val mapper = Json.mapper

  /** More of a plan's text is cut off; in characters. */
  private val LongestPlan = 1 << 20

  /** What a statement gives; it has run if it is a command. */
  def answered(session: SparkSession, request: OperationRequest): DataFrame = {
    FilledTables.readAnew(session)
    val grant = Admission.grantOf(request)
    val parsed = Admission.judged {
      StatementGuard.read(session, request.sql, request.named, request.positional)
    }
    ContinuousStatement.of(session, request, parsed) match {
      case Some(ours) =>
        ours.run(): Unit
        session.emptyDataFrame
      case None =>
        val plan = Admission.judged(StatementGuard.admit(session, parsed, grant))
        StreamStart.refuseToRun(plan)
        AnalysedQuery.dataFrame(session, plan)
    }
  }

  /** What a statement is:
    * {{{
    * {"command": false, "schema": "(an Arrow IPC message in base 64)",
    *  "parameters": [{"name": "x", "line": 1, "column": 8, "start": 7, "stop": 8, "fragment": ":x"}]}
    * }}}
    * Of parameters by name each is told once, where it is first; one by place has the name `""`.
    */
  def validated(session: SparkSession, request: OperationRequest): JsonNode = {
    val markers = ClauseParameters.markersIn(request.sql)
    val plan = filled(session, request, markers)
    val zone = session.sessionState.conf.sessionLocalTimeZone
    val schema = ArrowShape(plan.schema, zone, request.batchBytes).schemaMessage
    val root = mapper.createObjectNode()
    root.put("command", isCommand(plan))
    root.put("schema", Base64.getEncoder.encodeToString(schema))
    val parameters = root.putArray("parameters")
    told(markers).foreach(marker => place(parameters.addObject(), marker, request.sql))
    root
  }

  /** How a statement would run:
    * {{{
    * {"plan": "== Physical Plan ==...", "report": "SymmetricHashJoin Inner on ...", "sides": [...]}
    * }}}
    * `report` and `sides` are those of [[Explanation]]; a command has none.
    */
  def explained(session: SparkSession, request: OperationRequest): JsonNode = {
    val plan = filled(session, request, ClauseParameters.markersIn(request.sql))
    ContinuousStatement.refuseToExplain(plan)
    session.withActive {
      val query = session.sessionState.executePlan(plan, CommandExecutionMode.SKIP)
      val report = PlaitReport.explain(query)
      val root = mapper.createObjectNode()
      root.put("plan", planText(query)).put("report", report.toString)
      root.set[JsonNode]("sides", mapper.readTree(report.json))
      root
    }
  }

  private def planText(query: QueryExecution): String = {
    val text = query.explainString(SimpleMode)
    if (text.length <= LongestPlan) text else s"${text.take(LongestPlan)} ..."
  }

  private def isCommand(plan: LogicalPlan): Boolean = plan.exists(_.isInstanceOf[Command])

  private def filled(
      session: SparkSession,
      request: OperationRequest,
      markers: Seq[Marker]
  ): LogicalPlan =
    try filledBy(null, session, request, markers)
    catch {
      case error: AnalysisException if !error.isInstanceOf[ParseException] =>
        try filledBy(1, session, request, markers)
        catch { case _: AnalysisException => throw error }
    }

  private def filledBy(
      stand: Any,
      session: SparkSession,
      request: OperationRequest,
      markers: Seq[Marker]
  ): LogicalPlan = {
    val (byName, byPlace) = markers.partition(_.isNamed)
    val (named, positional) = (request.named, request.positional)
    // Where both kinds come together, Spark says that they do not go together.
    if (positional.nonEmpty || byName.isEmpty) {
      val missing = byPlace.drop(positional.size).map(_ => stand)
      admitted(session, request, named, positional ++ missing)
    } else {
      val missing = byName.map(_.name).filterNot(named.contains).map(_ -> stand)
      admitted(session, request, named ++ missing, Nil)
    }
  }

  private def admitted(
      session: SparkSession,
      request: OperationRequest,
      named: Map[String, Any],
      positional: Seq[Any]
  ): LogicalPlan = {
    FilledTables.readAnew(session)
    val grant = Admission.grantOf(request)
    Admission.judged(StatementGuard.admit(session, request.sql, named, positional, grant))
  }

  private def told(markers: Seq[Marker]): Seq[Marker] = {
    val (byName, byPlace) = markers.partition(_.isNamed)
    (byName.distinctBy(_.name) ++ byPlace).sortBy(_.start)
  }

  private def place(node: ObjectNode, marker: Marker, text: String): Unit = {
    val before = text.substring(0, text.offsetByCodePoints(0, marker.start))
    val line = before.substring(before.lastIndexOf('\n') + 1)
    node.put("name", if (marker.isNamed) marker.name else "")
    node.put("line", before.count(_ == '\n') + 1)
    node.put("column", line.codePointCount(0, line.length) + 1)
    node.put("start", marker.start).put("stop", marker.end - 1).put("fragment", marker.text): Unit
  }
}
