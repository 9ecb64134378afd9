// SPDX-License-Identifier: Apache-2.0
package plait.interval

/** What is no number and yet may be the value of a term: NULL, and NaN of a floating type. */
final class Specials private (private val mask: Int) extends AnyVal {
  def |(that: Specials): Specials = new Specials(mask | that.mask)
  def &(that: Specials): Specials = new Specials(mask & that.mask)
  def without(that: Specials): Specials = new Specials(mask & ~that.mask)
  def hasNull: Boolean = (mask & 1) != 0
  def hasNaN: Boolean = (mask & 2) != 0
  def isEmpty: Boolean = mask == 0
  def names: Seq[String] = Seq("NULL").filter(_ => hasNull) ++ Seq("NaN").filter(_ => hasNaN)
  override def toString: String = names.mkString("{", ", ", "}")
}

object Specials {
  val None = new Specials(0)
  val Null = new Specials(1)
  val NaN = new Specials(2)
  val NullOrNaN = new Specials(3)

  /** What special values there are among these, but for one. */
  def among(possibles: IndexedSeq[Possible], except: Int = -1): Specials = {
    var found = None
    var k = 0
    // Invariant: `found` holds those of all before k, but for the one at `except`.
    while (k < possibles.length) {
      if (k != except) found = found | possibles(k).specials
      k += 1
    }
    found
  }
}

/** Everything that the value of a term may be: a number of a set, NULL, NaN.
  *
  * {{{
  * l.s with l.s > 3 known         (3, +inf)
  * r.price, a double column       [-inf, inf] or NULL or NaN
  * l.s < r.s                      [0, 1] or NULL         the three truth values
  * }}}
  *
  * Conventions:
  *   1. A superset, as all sets here are: what is not in it is not the value.
  *   2. `Nothing` means that there is no value at all: Spark would fail, or the case cannot occur.
  */
final case class Possible(values: IntervalSet, specials: Specials) {
  def mayBeNull: Boolean = specials.hasNull
  def mayBeNaN: Boolean = specials.hasNaN
  def isPoint: Boolean = specials.isEmpty && values.isPoint
  def isNothing: Boolean = values.isEmpty && specials.isEmpty

  def intersect(that: Possible): Possible =
    if (this eq that) this
    else {
      val both = values.intersect(that.values)
      val rest = specials & that.specials
      // What lies in the other is itself.
      if ((both eq values) && rest == specials) this
      else if ((both eq that.values) && rest == that.specials) that
      else Possible(both, rest)
    }

  def union(that: Possible): Possible =
    Possible(values.union(that.values), specials | that.specials)

  def withoutNull: Possible =
    if (mayBeNull) copy(specials = specials.without(Specials.Null)) else this
  def withNull: Possible =
    if (mayBeNull) this else copy(specials = specials | Specials.Null)

  def contains(x: Rational): Boolean = values.contains(x)

  override def toString: String =
    if (isNothing) "nothing"
    else ((if (values.isEmpty) Nil else Seq(values.toString)) ++ specials.names).mkString(" or ")
}

object Possible {
  val Nothing: Possible = Possible(IntervalSet.Empty, Specials.None)
  val JustNull: Possible = Possible(IntervalSet.Empty, Specials.Null)
  val Anything: Possible = Possible(IntervalSet.All, Specials.NullOrNaN)

  /** The truth values. */
  val True: Possible = only(Rational.One)
  val False: Possible = only(Rational.Zero)

  def only(x: Rational): Possible = Possible(IntervalSet.point(x), Specials.None)
  def in(values: IntervalSet): Possible = Possible(values, Specials.None)
}
