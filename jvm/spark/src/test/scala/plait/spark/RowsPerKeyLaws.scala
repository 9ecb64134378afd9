// SPDX-License-Identifier: Apache-2.0
// Laws: what is said of the rows of a key, of a sample or of all, against Spark's own count.
package plait.spark

import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.execution.joins.plait.BroadcastRelation
import org.apache.spark.sql.{DataFrame, functions}

class RowsPerKeyLaws extends SparkSuite {
  private val Rows = 300000L

  private val distributions = Seq(
    "each key has 7 rows" -> "id DIV 7",
    "keys have 1 to 20 rows, in no sequence" -> "CAST(pow(hash(id) % 100000, 2) AS BIGINT) % 50000",
    "keys have 1,000 rows" -> "id % 300",
    "one key has a twelfth of the rows, and no other has two" -> "IF(id % 12 = 0, 150000, id)",
    "one key has a hundredth of the rows, and the others have seven" -> "IF(id % 100 = 7, 150000, id DIV 7 * 7)",
    "one key has four hundred rows, and no other has two" -> "IF(id % 750 = 7, 150000, id)",
    "keys have 6,000 rows, in turns" -> "id % 50",
    "one key has most rows" -> "IF(id % 10 > 0, 299999, id)",
    "a hundred keys have a fifth of the rows" -> "IF(id % 5 = 0, id % 500 - 1000, id)",
    "most keys are NULL" -> "IF(id % 10 = 0, id DIV 50, NULL)"
  )

  for {
    (distribution, key) <- distributions
    (kind, form) <- Seq("a long" -> "%s", "a text" -> "concat('key ', %s)")
  } test(s"$kind, $distribution: enough are seen if and only if there are, and fewer are counted") {
    val keyed = spark.range(Rows).selectExpr(s"${form.format(key)} AS k", "id")
    val counts = keyed.where("k IS NOT NULL").groupBy("k").count()
    val exact = counts.selectExpr("sum(count * count) / sum(count)").head().getDouble(0)
    val sent = broadcast(keyed)
    Seq(16.0, 2000.0).foreach { enough =>
      val found = BroadcastRelation.rowsPerKey(sent, Some(BigInt(Rows)), enough)
      if (exact >= enough) assert(found >= enough, s"$found of $exact")
      // Of a text it is an estimate.
      else assert(math.abs(found - exact) < 1 + 0.1 * exact, s"$found of $exact")
    }
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
