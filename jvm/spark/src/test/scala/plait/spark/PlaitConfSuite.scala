// SPDX-License-Identifier: Apache-2.0
// Law: a setting at the default that the guide names is as one that nobody has set.
package plait.spark

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import munit.FunSuite
import org.apache.spark.sql.internal.SQLConf

class PlaitConfSuite extends FunSuite {
  private val read: Seq[(String, PlaitConf => Any)] = Seq(
    PlaitConf.Enabled -> (_.enabled),
    PlaitConf.JoinStrategy -> (_.joinStrategy),
    PlaitConf.RadixJoin -> (_.radixJoin),
    PlaitConf.Index -> (_.index),
    PlaitConf.Footers -> (_.mostFooters),
    PlaitConf.OnViolation -> (_.orderViolation),
    PlaitConf.Frontier -> (_.eventTimeFrontier),
    PlaitConf.Unbounded -> (_.unboundedState),
    PlaitConf.Late -> (_.lateRows),
    PlaitConf.MostOfKey -> (_.keyLimit),
    PlaitConf.OnLimit -> (_.keyLimit),
    PlaitConf.WholeStage -> (_.wholeStage),
    PlaitConf.LogProbes -> (_.logProbes),
    PlaitConf.TraceBuffered -> (_.traceBuffered),
    PlaitConf.PlanningOnError -> (_.failsOnPlanningError)
  )

  private val row = """\| `(spark\.plait\.[a-z.-]+)` \| `(\w+)` \|.*""".r
  private val guide = Files
    .readAllLines(Path.of("docs", "tuning.md"))
    .asScala
    .collect { case row(key, default) => key -> default }
    .toMap

  private def conf(settings: (String, String)*): PlaitConf = {
    val conf = new SQLConf
    settings.foreach { case (key, value) => conf.setConfString(key, value) }
    PlaitConf(conf)
  }

  // What is done at a limit is asked where there is one.
  private def beside(key: String) =
    if (key == PlaitConf.OnLimit) Seq(PlaitConf.MostOfKey -> "5") else Nil

  test("every setting is read, and told in the guide") {
    assertEquals(read.map(_._1).sorted, PlaitConf.Keys.sorted)
    assertEquals(guide.keySet, PlaitConf.Keys.toSet)
  }

  for ((key, value) <- read) {
    test(s"$key is by default what the guide says") {
      assertEquals(
        value(conf(beside(key) :+ (key -> guide(key)): _*)),
        value(conf(beside(key): _*))
      )
    }

    test(s"$key that is no such value is an error that names it") {
      val error = intercept[IllegalArgumentException] {
        value(conf(beside(key) :+ (key -> "perhaps"): _*))
      }
      assert(error.getMessage.contains(s"$key is 'perhaps', but must be"), error.getMessage)
    }
  }
}
