// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}

import plait.spark.SparkSuite

/** What the suites of the guard share: the session of one client, and what becomes of a statement.
  *
  * An outcome is the code of the refusal, `admitted`, or `Spark's`: it passed the first look, and Spark's own
  * parser or analysis has found a fault in it.
  */
abstract class GuardSuite extends SparkSuite {
  lazy val client: ClassicSession = spark.asInstanceOf[ClassicSession].newSession()

  def grant(scopes: Scope*): Grant = Grant(scopes.toSet, Nil, Grant.HarmlessConfKeys)

  lazy val reader: Grant = grant(Scope.Read)
  lazy val admin: Grant = grant(Scope.Read, Scope.Stream, Scope.Admin)

  /** As the server's operator. */
  def run(statement: String): Unit = client.sql(statement): Unit

  def admit(statement: String, grant: Grant): LogicalPlan =
    StatementGuard.admit(client, statement, Map.empty, Nil, grant)

  def outcome(statement: String, grant: Grant): String =
    Try(admit(statement, grant)) match {
      case Success(_) => "admitted"
      case Failure(refused: StatementRefused) => refused.code
      case Failure(_) => "Spark's"
    }

  /** Every statement with its outcome; says all that differ at once. */
  def assertOutcomes(expected: Seq[(String, String)], grant: Grant): Unit = {
    val wrong = expected.flatMap { case (statement, code) =>
      val found = outcome(statement, grant)
      Option.when(found != code)(s"$found instead of $code: $statement")
    }
    assert(wrong.isEmpty, wrong.mkString("\n", "\n", "\n"))
  }

  /** Lines of `CODE   statement`. */
  def table(text: String): Seq[(String, String)] =
    text.linesIterator
      .map(_.trim)
      .filter(_.nonEmpty)
      .map { line =>
        val (code, statement) = line.span(!_.isWhitespace)
        statement.trim -> code
      }
      .toSeq
}
