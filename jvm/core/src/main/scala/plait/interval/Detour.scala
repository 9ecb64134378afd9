// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.StepOperation.Step

/** Operations that Spark computes by way of numbers of another kind, which are rounded on their own.
  *
  * {{{
  * near 1/10, 2 * [3, 4]                            [5.9, 8.1]
  * truncate, by way of double, 1.99999999999999999  1 or 2: as a double it is 2
  * }}}
  */
object Detour {

  /** Another operation, whose result is off by at most so much, either way. */
  final case class Near(operation: RealOperation, by: Rational) extends RealOperation {
    def name: String = operation.name
    override def isPartial(as: IndexedSeq[IntervalSet]): Boolean = operation.isPartial(as)
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean =
      operation.makesNaN(as, infinity)
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = around(operation.forward(as))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      operation.backward(around(result), as, index)

    private val slack = IntervalSet.closed(-by, by)
    private def around(set: IntervalSet): IntervalSet = RealOperation.sum(set, slack)
  }

  /** A step of a number, or of the floating number nearest to it. */
  final case class ByWayOf(floating: Domain.Floating, step: Step) extends RealOperation {
    def name: String = step.name
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      step.forward(as).union(step.forward(as.map(floating.round)))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet = {
      val exact = step.backward(result, as, index)
      exact.union(floating.unround(exact))
    }
  }

  /** What is after the point falls away, and `2^63` becomes the long before it: as a double the
    * greatest long is `2^63`, so that Spark's check lets it through, and Java makes of it what fits.
    */
  case object ToLong extends RealOperation {
    private val step = StepOperation.ToZero(Rational.One)
    private val end = IntervalSet.point(Rational(BigInt(1) << 63))
    private val last = IntervalSet.point(Rational(Long.MaxValue))
    def name: String = "truncate"
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = {
      val whole = step.forward(as)
      if (whole.meets(end)) whole.union(last) else whole
    }
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet = {
      val exact = step.backward(result, as, index)
      if (result.meets(last)) exact.union(end) else exact
    }
  }
}
