// SPDX-License-Identifier: Apache-2.0
package plait.spark

import java.time.ZoneId

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  Expression,
  LambdaFunction,
  PlanExpression,
  UnresolvedNamedLambdaVariable
}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}

import plait.Side
import plait.constraint.Term.Variable
import plait.constraint.{Narrowing, Solver, Term, Trace}
import plait.interval.{Domain, IntervalSet, Possible}
import plait.spark.translate.{ConditionError, PlainValue, RealTranslation, TypedCondition}

/** The solver for people: what the variables of a SQL condition may be, and which row groups of a file
  * it rules out. Questions and answers are JSON, see [[PlainValue]].
  *
  * {{{
  * bounds   {"condition": "a > b - 3", "real": true, "trace": true, "variables": [{"name": "b", "possible": ...}]}
  *          {"feasible": true, "zone": "Europe/Berlin", "variables": [{"name": "a", "possible": ...}, ...],
  *           "text": ..., "mermaid": ...}
  * prune    {"condition": "t > 3", "schema": ..., "groups": [{"t": ...}, ...]}
  *          {"kept": [false, ...]}
  * wrong    {"error": "The condition ends too early at position 4: ..."}
  * }}}
  */
object PlaitBounds {
  private val mapper = new ObjectMapper()

  def bounds(session: SparkSession, question: String): String = answer(session, question) {
    (asked, found) =>
      val condition = parsed(session, asked)
      val givens = PlainValue.elements(asked.get("variables"))
      val names = new Names(session.sessionState.conf, condition, givens.map(_.get("name").asText))
      val problem =
        if (asked.get("real").asBoolean) real(session, condition, names, givens)
        else typed(session, condition, names, givens)
      val trace = narrow(problem, found)
      found.put("zone", session.sessionState.conf.sessionLocalTimeZone)
      // A table and a graph are long for a long condition.
      if (asked.get("trace").asBoolean) found.put("text", trace.text).put("mermaid", trace.mermaid)
      else found
  }

  def prune(session: SparkSession, question: String): String = answer(session, question) {
    (asked, found) =>
      val schema = DataType.fromJson(asked.get("schema").asText).asInstanceOf[StructType]
      val columns = schema.map(f => AttributeReference(f.name, f.dataType, f.nullable)())
      val condition = new TypedCondition(session, parsed(session, asked), columns)
      val byName = columns.map(c => c.name -> c).toMap
      val solver = new Solver(condition.term)
      val kept = found.putArray("kept")
      PlainValue.elements(asked.get("groups")).foreach { group =>
        val known = for {
          field <- group.properties.asScala.toSeq
          column <- byName.get(field.getKey)
          variable <- condition.variables.get(column)
        } yield variable -> values(session, Some(column.dataType)).read(column.name, field.getValue)
        kept.add(solver.solve(known) != Narrowing.Infeasible)
      }
      found
  }

  /** A condition, its variables by name, and what is given of them. One whose type has no order is no
    * variable of the solver.
    */
  final private case class Problem(
      condition: Term,
      variables: Seq[(String, Option[Variable])],
      values: String => PlainValue,
      known: Map[String, Possible]
  )

  /** Writes the answer. */
  private def narrow(problem: Problem, found: ObjectNode): Trace = {
    val solver = new Solver(problem.condition, problem.variables.flatMap(_._2))
    val known = for {
      (name, variable) <- problem.variables
      one <- variable
      possible <- problem.known.get(name)
    } yield one -> possible
    val (narrowing, trace) = solver.traced(known: _*)
    val solved: Term => Possible = narrowing match {
      case Narrowing.Narrowed(values) => values
      case Narrowing.Unchanged(values) => values
      case Narrowing.Infeasible => _ => Possible.Nothing
    }
    found.put("feasible", narrowing != Narrowing.Infeasible)
    val all = found.putArray("variables")
    problem.variables.foreach { case (name, variable) =>
      val one = all.addObject().put("name", name)
      val unknown =
        if (narrowing == Narrowing.Infeasible) Possible.Nothing
        else Possible.in(IntervalSet.All).withNull
      val possible = variable.fold(unknown)(solved)
      one.set[ObjectNode]("possible", problem.values(name).write(possible))
    }
    trace
  }

  private def real(
      session: SparkSession,
      condition: Expression,
      names: Names,
      givens: Seq[JsonNode]
  ): Problem = {
    val byName = names.all.map(name => name -> Variable(name, Side.Left, Domain.Real)).toMap
    val plain = new PlainValue(None, ZoneId.of("UTC"))
    val translation = new RealTranslation(
      parts => byName(names.of(parts)),
      name => session.catalog.functionExists(name.map(part => s"`$part`").mkString("."))
    )
    val byGiven = givens.map(g => g.get("name").asText -> g).toMap
    // There is no NULL among the real numbers.
    val known = names.all.map { name =>
      val all = Possible.in(IntervalSet.All)
      name -> byGiven.get(name).fold(all)(g => plain.read(name, g.get("possible")))
    }
    val variables = names.all.map(name => name -> byName.get(name))
    Problem(translation.truth(condition), variables, _ => plain, known.toMap)
  }

  private def typed(
      session: SparkSession,
      condition: Expression,
      names: Names,
      givens: Seq[JsonNode]
  ): Problem = {
    val types = givens.flatMap { g =>
      Option(g.get("type")).filterNot(_.isNull).map { t =>
        val name = g.get("name").asText
        name -> typeNamed(session, name, t.asText)
      }
    }.toMap
    val common = types.values.toSeq.distinct match {
      case Seq(one) => Some(one)
      case _ => None
    }
    def typeOf(name: String) = types
      .get(name)
      .orElse(common)
      .getOrElse(throw new ConditionError(s"The type of $name is missing: give it in types."))
    val columns = names.all.map { name =>
      val parts = names.parts(name)
      name -> AttributeReference(parts.last, typeOf(name))(qualifier = parts.init)
    }
    val plain = columns.map { case (name, c) => name -> values(session, Some(c.dataType)) }.toMap
    val whole = new TypedCondition(session, condition, columns.map(_._2))
    val known = for {
      one <- givens if !one.get("possible").isNull
      name = one.get("name").asText
    } yield name -> plain(name).read(name, one.get("possible"))
    val variables = columns.map { case (name, c) => name -> whole.variables.get(c) }
    Problem(whole.term, variables, plain, known.toMap)
  }

  private def typeNamed(session: SparkSession, variable: String, name: String): DataType =
    try session.sessionState.sqlParser.parseDataType(name)
    catch {
      case _: ParseException =>
        throw new ConditionError(
          s"The type of $variable is '$name', which is none of Spark's: write int, bigint, double, " +
            "decimal(10, 2), date, timestamp, string, boolean, ..."
        )
    }

  private def values(session: SparkSession, dataType: Option[DataType]): PlainValue = {
    val zone = session.sessionState.conf.sessionLocalTimeZone
    new PlainValue(dataType, DateTimeUtils.getZoneId(zone))
  }

  private def parsed(session: SparkSession, asked: JsonNode): Expression = {
    val condition = session.sessionState.sqlParser.parseExpression(asked.get("condition").asText)
    condition.collectFirst { case query: PlanExpression[_] => query.origin.startIndex }.foreach {
      at =>
        val place = at.fold("here")(index => s"as at position ${index + 1}")
        throw new ConditionError(s"A condition has no subqueries, $place.")
    }
    condition
  }

  /** The names of a condition, each as it is written first: in what is given, or in the condition. */
  final private class Names(conf: SQLConf, condition: Expression, first: Seq[String]) {
    private val found = mutable.LinkedHashMap.empty[String, Seq[String]]

    private def same(name: String, parts: Seq[String]) =
      conf.resolver(name, parts.mkString("."))

    private val written = free(condition, Nil)
    first.foreach { name =>
      val parts = written.find(same(name, _)).getOrElse {
        val named = written.map(_.mkString(".")).distinct
        throw new ConditionError(
          s"The condition does not name $name: it names ${if (named.isEmpty) "nothing"
            else named.mkString(", ")}."
        )
      }
      found += name -> parts
    }
    written.foreach { parts =>
      if (!found.keys.exists(same(_, parts))) found += parts.mkString(".") -> parts
    }

    /** In `exists(c, z -> z > a)` these are c and a; all names in the body are of one kind to Spark's parser. */
    private def free(e: Expression, bound: Seq[String]): Seq[Seq[String]] = e match {
      case UnresolvedAttribute(parts) => Seq(parts)
      case UnresolvedNamedLambdaVariable(parts) =>
        if (bound.exists(conf.resolver(_, parts.head))) Nil else Seq(parts)
      case LambdaFunction(body, arguments, _) => free(body, bound ++ arguments.map(_.name))
      case other => other.children.flatMap(free(_, bound))
    }

    def all: Seq[String] = found.keys.toSeq
    def parts(name: String): Seq[String] = found(name)
    def of(parts: Seq[String]): String = found.keys.find(same(_, parts)).get
  }

  private def answer(session: SparkSession, question: String)(
      body: (JsonNode, ObjectNode) => ObjectNode
  ): String = {
    val found = mapper.createObjectNode()
    try SQLConf.withExistingConf(session.sessionState.conf)(body(mapper.readTree(question), found))
    catch {
      case e: ConditionError => found.put("error", e.getMessage)
      case e: AnalysisException => found.put("error", sentence(e))
      case _: StackOverflowError => found.put("error", "The condition is nested too deeply.")
      case NonFatal(e) =>
        found.put("error", s"Plait failed on this condition, a fault of its own: $e")
    }
    mapper.writeValueAsString(found)
  }

  /** Spark's message without its codes, and where. */
  private def sentence(e: AnalysisException): String = {
    val place = e match {
      case p: ParseException => p.start.startPosition.map(_ + 1)
      case _ => e.getQueryContext.headOption.map(_.startIndex + 1)
    }
    val line = e.getMessage.linesIterator.map(_.trim).find(_.nonEmpty).getOrElse("")
    val plain = line.replaceFirst("^\\[[A-Z0-9_.]+\\] ", "").replaceFirst(" ?SQLSTATE.*", "")
    s"The condition is wrong${place.fold("")(at => s" at position $at")}: ${plain.stripSuffix(".")}."
  }
}
