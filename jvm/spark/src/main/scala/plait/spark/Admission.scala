// SPDX-License-Identifier: Apache-2.0
package plait.spark

import org.apache.spark.SparkThrowable

import plait.spark.guard.{Grant, Scope, StatementRefused}
import plait.spark.result.{OperationFailed, OperationRequest}

/** What the caller of a request may do, and how it is told what it may not. */
private[spark] object Admission {

  def grantOf(request: OperationRequest): Grant =
    Grant(Scope.named(request.scopes), request.folders, Grant.HarmlessConfKeys ++ request.confKeys)

  /** Does something that the guard judges; what it refuses is an error of the operation. */
  def judged[A](body: => A): A =
    try body
    catch {
      case refused: StatementRefused =>
        val origin = Some(refused.origin).filter(_.line.isDefined)
        throw new OperationFailed(kindOf(refused), refused.code, refused.sentence, origin)
      // While a statement is analysed, these are what Plait says of its hints and properties.
      case hint: IllegalArgumentException if !hint.isInstanceOf[SparkThrowable] =>
        throw new OperationFailed("statement", "WRONG_HINT", hint.getMessage, None)
    }

  private def kindOf(refused: StatementRefused): String =
    if (refused.code == StatementRefused.Partitions) "limit" else "refused"
}
