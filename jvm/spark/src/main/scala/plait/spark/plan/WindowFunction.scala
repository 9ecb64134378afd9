// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import plait.spark.plan.WindowShape._

/** A table function that adds windows to the rows of a table, and its arguments.
  *
  * {{{
  * TUMBLE   (DATA, TIMECOL, SIZE [, OFFSET])
  * HOP      (DATA, TIMECOL, SLIDE, SIZE [, OFFSET])
  * CUMULATE (DATA, TIMECOL, STEP, SIZE [, OFFSET])
  * SESSION  (DATA, TIMECOL [, KEY], GAP)
  * }}}
  *
  * @param lengths
  *   the names of the arguments that say how long its windows are, in their sequence
  */
sealed abstract class WindowFunction(val name: String, val lengths: Seq[String])
    extends Product
    with Serializable {

  /** The names of all its arguments, in their sequence. */
  final def arguments: Seq[String] = Seq("DATA", "TIMECOL") ++ keys ++ lengths ++ offset

  def keys: Option[String] = None
  def offset: Option[String] = Some("OFFSET")

  /** The windows of these lengths, or a sentence that says why there are none.
    *
    * @param of
    *   as many as `lengths`, each positive, in microseconds
    */
  def shape(of: Seq[Long], offset: Long): Either[String, WindowShape]
}

object WindowFunction {
  case object Tumble extends WindowFunction("TUMBLE", Seq("SIZE")) {
    override def shape(of: Seq[Long], offset: Long): Either[String, WindowShape] =
      Right(Sliding.of(of.head, of.head, offset))
  }

  case object Hop extends WindowFunction("HOP", Seq("SLIDE", "SIZE")) {
    override def shape(of: Seq[Long], offset: Long): Either[String, WindowShape] =
      Right(Sliding.of(of(0), of(1), offset))
  }

  case object Cumulate extends WindowFunction("CUMULATE", Seq("STEP", "SIZE")) {
    override def shape(of: Seq[Long], offset: Long): Either[String, WindowShape] = {
      val (step, size) = (of(0), of(1))
      if (size % step == 0) Right(Growing.of(step, size, offset))
      else if (step > size)
        Left(
          s"The STEP of CUMULATE comes before its SIZE and is no longer: here STEP is ${text(step)} and SIZE ${text(size)}"
        )
      else
        Left(
          s"The SIZE of CUMULATE must be a multiple of its STEP: ${text(size)} is none of ${text(step)}"
        )
    }
  }

  case object Session extends WindowFunction("SESSION", Seq("GAP")) {
    override def keys: Option[String] = Some("KEY")
    override def offset: Option[String] = None
    override def shape(of: Seq[Long], offset: Long): Either[String, WindowShape] =
      Right(Gapped(of.head))
  }

  val All: Seq[WindowFunction] = Seq(Tumble, Hop, Cumulate, Session)

  def named(name: String): Option[WindowFunction] = All.find(_.name.equalsIgnoreCase(name))
}
