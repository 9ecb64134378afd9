// SPDX-License-Identifier: Apache-2.0
// Laws: what a sample says of the rows of a key, against the count of all of them.
package plait.spark

import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.execution.joins.plait.BroadcastRelation
import org.apache.spark.sql.{DataFrame, functions}

class RowsPerKeyLaws extends SparkSuite {
  private val Rows = 300000L
  private val Enough = 16.0

  private val distributions = Seq(
    "each key has 7 rows" -> "id DIV 7",
    "keys have 1 to 20 rows, in no sequence" -> "CAST(pow(hash(id) % 100000, 2) AS BIGINT) % 50000",
    "keys have 1,000 rows" -> "id % 300",
    "one key has a tenth of the rows, and no other has two" -> "IF(id % 10 = 0, -1, id)",
    "one key has most rows" -> "IF(id % 10 > 0, 299999, id)",
    "a hundred keys have a fifth of the rows" -> "IF(id % 5 = 0, id % 500 - 1000, id)",
    "most keys are NULL" -> "IF(id % 10 = 0, id DIV 50, NULL)"
  )

  for {
    (distribution, key) <- distributions
    (kind, form) <- Seq("a long" -> "%s", "a text" -> "concat('key ', %s)")
  } test(s"$kind, $distribution: enough are seen if and only if there are, and few are counted") {
    val keyed = spark.range(Rows).selectExpr(s"${form.format(key)} AS k", "id")
    val exact = keyed
      .where("k IS NOT NULL")
      .groupBy("k")
      .count()
      .selectExpr("sum(count * count) / sum(count)")
    val expected = exact.head().getDouble(0)
    val found = BroadcastRelation.rowsPerKey(broadcast(keyed), Some(BigInt(Rows)), Enough)
    if (expected >= Enough) assert(found >= Enough, s"$found of $expected")
    else assert(math.abs(found - expected) < 0.1 * expected, s"$found of $expected")
  }

  private def broadcast(side: DataFrame): Any =
    withConf("spark.sql.adaptive.enabled" -> "false", PlaitConf.JoinStrategy -> "never") {
      val other = side.limit(1).selectExpr("k")
      val joined = other.join(functions.broadcast(side), "k").queryExecution.executedPlan
      joined.collectFirst { case sent: BroadcastExchangeExec =>
        sent.executeBroadcast[Any]().value
      }.get
    }
}
