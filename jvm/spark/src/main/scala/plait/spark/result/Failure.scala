// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.io.{PrintWriter, StringWriter}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.{QueryContext, QueryContextType, SparkThrowable}

/** Why an operation failed, where it is not an error of Spark's own.
  *
  * @param kind
  *   as in [[Failure]]; `code` names the error, `position` is its place in the statement
  */
final class OperationFailed(
    val kind: String,
    val code: String,
    val sentence: String,
    val position: Option[Origin]
) extends RuntimeException(sentence)

object OperationFailed {
  def cancelled: OperationFailed =
    new OperationFailed("cancelled", "OPERATION_CANCELED", "The operation was cancelled.", None)

  /** Of one for whose parts, each within another, the driver's thread has no stack. */
  def tooDeep: OperationFailed = new OperationFailed(
    "statement",
    "STATEMENT_TOO_DEEP",
    "The statement has too many parts within one another, as joins and sums have, for Spark to plan it: write it as " +
      "several, or list the values.",
    None
  )

  /** Of a statement that Spark's driver works on itself, as it does on what is constant. */
  def outOfMemory: OperationFailed = new OperationFailed(
    "limit",
    "OUT_OF_MEMORY",
    "The statement asks for more memory than Spark's driver has: make its values and its text smaller, or raise " +
      "spark.driver.memory.",
    None
  )
}

/** An error as JSON, without a stack unless it is asked for:
  * {{{
  * {"kind": "statement", "condition": "UNRESOLVED_COLUMN.WITH_SUGGESTION", "sqlState": "42703",
  *  "message": "[UNRESOLVED_COLUMN...", "parameters": {"objectName": "`x`", ...},
  *  "position": {"line": 1, "column": 8, "start": 7, "stop": 7, "fragment": "x"}}
  * }}}
  *
  *   1. `kind` is `statement` (it cannot be parsed or analysed, or a value made it fail), `refused` (it
  *      is not allowed), `limit`, `cancelled` or `internal`.
  *   1. Of a chain of causes the innermost of Spark's errors that has a name is told.
  *   1. Lines and columns count from 1, `start` and `stop` from 0, both in the text of the statement. What is wrong
  *      in the text of a view or of a function in SQL has no position.
  *   1. Without stacks there is none in `parameters` either: a text ends before it. A parameter may be null.
  */
object Failure {
  private val mapper = Json.mapper

  /** @param statement
    *   the text that positions are in; empty where there is none
    */
  def json(error: Throwable, stack: StackTrace, statement: String): String = {
    val root = mapper.createObjectNode()
    error match {
      case ours: OperationFailed => told(root, ours, statement)
      case _ => told(root, error, stack, statement)
    }
    if (stack == StackTrace.Sent) root.put("stack", stackOf(error))
    root.toString
  }

  /** The innermost of Spark's named errors in the chain of causes, else the error itself. */
  private[result] def named(error: Throwable): Throwable =
    causes(error).filter(conditionOf(_).isDefined).lastOption.getOrElse(error)

  private def told(root: ObjectNode, ours: OperationFailed, statement: String): Unit = {
    root.put("kind", ours.kind).put("condition", ours.code).put("message", ours.sentence)
    ours.position
      .filterNot(origin => isElsewhere(origin.context, statement))
      .foreach(origin => position(root, origin))
  }

  private def told(
      root: ObjectNode,
      error: Throwable,
      stack: StackTrace,
      statement: String
  ): Unit = {
    val cause = named(error)
    val sqlState = stateOf(cause)
    root.put("kind", kindOf(cause, sqlState))
    conditionOf(cause).foreach(root.put("condition", _))
    sqlState.foreach(root.put("sqlState", _))
    root.put("message", messageOf(cause))
    cause match {
      case spark: SparkThrowable =>
        val parameters = root.putObject("parameters")
        spark.getMessageParameters.asScala.foreach { case (name, value) =>
          parameters.put(name, if (stack == StackTrace.Sent) value else cut(value))
        }
        val context = spark.getQueryContext.find(_.contextType == QueryContextType.SQL)
        if (!context.exists(isElsewhere(_, statement))) place(root, cause, context)
      case _ =>
    }
  }

  private def kindOf(cause: Throwable, sqlState: Option[String]): String =
    if (sqlState.exists(_.startsWith("XX"))) "internal"
    else if (cause.isInstanceOf[AnalysisException]) "statement" // some have no state
    else if (cause.isInstanceOf[SparkThrowable] && sqlState.isDefined) "statement"
    else "internal"

  private def conditionOf(error: Throwable): Option[String] = error match {
    case spark: SparkThrowable => Option(spark.getCondition)
    case _ => None
  }

  private def stateOf(error: Throwable): Option[String] = error match {
    case spark: SparkThrowable => Option(spark.getSqlState)
    case _ => None
  }

  private def messageOf(error: Throwable): String =
    cut(Option(error.getMessage).getOrElse(error.getClass.getSimpleName)).trim

  /** Spark appends the stack of a task's error to texts; that is cut off. */
  private def cut(text: String): String =
    if (text == null || !text.linesIterator.exists(isStack)) text
    else text.linesIterator.takeWhile(line => !isStack(line)).mkString("\n").trim

  private def isStack(line: String): Boolean =
    line.startsWith("\tat ") || line.startsWith("Driver stacktrace:")

  /** Is it a place in the text of a view or a function? Spark does not name a function of the session. */
  private def isElsewhere(context: QueryContext, statement: String): Boolean =
    context.contextType == QueryContextType.SQL && (!context.objectType.isEmpty ||
      statement.slice(context.startIndex, context.stopIndex + 1) != context.fragment)

  private def place(root: ObjectNode, error: Throwable, context: Option[QueryContext]): Unit = {
    val place = mapper.createObjectNode()
    error match {
      case analysis: AnalysisException =>
        lineAndColumn(place, analysis.line, analysis.startPosition)
      case _ =>
    }
    context.foreach(marked(place, _))
    if (!place.isEmpty) root.set[ObjectNode]("position", place): Unit
  }

  private def position(root: ObjectNode, origin: Origin): Unit = {
    val place = root.putObject("position")
    lineAndColumn(place, origin.line, origin.startPosition)
    if (origin.startIndex.isDefined && origin.stopIndex.isDefined) marked(place, origin.context)
  }

  /** The origin counts where values of parameters have been put in, its context where they have not. */
  private def marked(place: ObjectNode, context: QueryContext): Unit = {
    place.put("start", context.startIndex).put("stop", context.stopIndex)
    place.put("fragment", context.fragment): Unit
  }

  private def lineAndColumn(place: ObjectNode, line: Option[Int], column: Option[Int]): Unit = {
    line.foreach(place.put("line", _))
    column.foreach(number => place.put("column", number + 1))
  }

  private def causes(error: Throwable): Seq[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(MostCauses).toSeq

  private def stackOf(error: Throwable): String = {
    val text = new StringWriter
    error.printStackTrace(new PrintWriter(text))
    text.toString
  }

  /** A chain of causes may be a ring. */
  private val MostCauses = 32
}

/** Does an error carry the JVM's stack? */
sealed trait StackTrace

object StackTrace {
  case object Sent extends StackTrace
  case object Kept extends StackTrace
}
