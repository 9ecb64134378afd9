// SPDX-License-Identifier: Apache-2.0
package plait

import org.junit.runner.JUnitCore
import org.junit.runner.notification.{Failure, RunListener}

/** Runs the named suites and ends with 1 at the first test that fails, with 0 after the last. */
object FirstFailure {
  def main(suites: Array[String]): Unit = {
    val runner = new JUnitCore
    runner.addListener(new RunListener {
      override def testFailure(failure: Failure): Unit = {
        println(failure.getTestHeader)
        Runtime.getRuntime.halt(1)
      }
    })
    for (suite <- suites) runner.run(Class.forName(suite))
    Runtime.getRuntime.halt(0)
  }
}
