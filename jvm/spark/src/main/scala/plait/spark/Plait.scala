// SPDX-License-Identifier: Apache-2.0
package plait.spark

import org.apache.spark.sql.DataFrame

/** What Plait offers to programs in Scala and Java, beside the session settings and hints.
  *
  * {{{
  * println(Plait.explain(df))
  * Plait.explain(df).sides.flatMap(_.whyNot).map(_.code)      // Seq(ENDLESS_REACH)
  * }}}
  */
object Plait {

  /** How each join of `df` prunes, or why it is left to Spark. Once `df` has run, this is said of the
    * plan that ran.
    */
  def explain(df: DataFrame): Explanation = PlaitReport.explain(df.queryExecution)
}
