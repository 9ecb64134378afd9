// SPDX-License-Identifier: Apache-2.0
package plait.spark

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.plait.AnalysedQuery

import plait.spark.guard.{Grant, Scope, StatementGuard, StatementRefused}
import plait.spark.result.{OperationFailed, OperationRequest, Operations}

/** The JVM's side of the endpoint: runs a statement and streams its rows to the Python process beside it.
  *
  * `start` takes the JSON of [[OperationRequest]] and answers `port secret`: whoever connects to
  * that port of the loopback interface and sends the secret reads the frames of the result.
  */
object PlaitRemote {

  def start(session: SparkSession, json: String): String = {
    val socket = Operations.start(
      OperationRequest.parse(json),
      session,
      admitted(session),
      PlaitReport.counters
    )
    s"${socket.port} ${socket.secret}"
  }

  def cancel(operation: String): Unit = Operations.cancel(operation)

  /** How many operations run. */
  def running(): Int = Operations.count

  private def admitted(session: SparkSession)(request: OperationRequest): DataFrame = {
    val plan =
      try
        StatementGuard
          .admit(session, request.sql, request.named, request.positional, grantOf(request))
      catch {
        case refused: StatementRefused =>
          val origin = Some(refused.origin).filter(_.line.isDefined)
          throw new OperationFailed("refused", refused.code, refused.sentence, origin)
        // While a statement is analysed, these are what Plait says of its hints and properties.
        case hint: IllegalArgumentException if !hint.isInstanceOf[SparkThrowable] =>
          throw new OperationFailed("statement", "WRONG_HINT", hint.getMessage, None)
      }
    AnalysedQuery.dataFrame(session, plan)
  }

  private def grantOf(request: OperationRequest): Grant = Grant(
    Scope.All.filter(scope => request.scopes.contains(scope.name)).toSet,
    request.folders,
    Grant.HarmlessConfKeys ++ request.confKeys
  )
}
