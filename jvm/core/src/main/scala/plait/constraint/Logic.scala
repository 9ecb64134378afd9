// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.constraint.Truth._
import plait.interval._

/** AND, OR and NOT of three truth values, and the questions whether a value is NULL or NaN.
  *
  * {{{
  *   a AND b TRUE    ⇒   both TRUE
  *   a AND b FALSE   ⇒   one of them FALSE: b, if a cannot be
  *   a OR b          the mirror: NOT (NOT a AND NOT b)
  * }}}
  *
  * Conventions:
  *   1. There are three truth values. A row matches if its condition is TRUE; FALSE and NULL are told apart,
  *      as NOT makes TRUE of the one and NULL of the other.
  *   2. FALSE settles an AND and TRUE an OR, whatever the others are, NULL too; else NULL comes out if one is
  *      NULL.
  *   3. What is settled may not be evaluated further: that an argument would fail says nothing then.
  *   4. The questions `IS NULL` and `IS NAN` are never NULL.
  */
object Logic {

  /** AND, or OR as its mirror: `justAbsorbing` is the value that settles it, FALSE for AND. */
  sealed abstract class Junction(val name: String, justAbsorbing: Possible) extends Operation {
    private val absorbsFalse = justAbsorbing.mayBeFalse
    private val justNeutral = if (absorbsFalse) Possible.True else Possible.False
    private val neutralOrNull = justNeutral.withNull
    private def mayAbsorb(a: Possible) = if (absorbsFalse) a.mayBeFalse else a.mayBeTrue
    private def mayBeNeutral(a: Possible) = if (absorbsFalse) a.mayBeTrue else a.mayBeFalse
    def domain: Domain = Domain.Boolean

    override def forward(arguments: IndexedSeq[Possible]): Possible = {
      var settles, mayBeNull = false
      var unsettled, isNeutral = true
      var k = 0
      while (k < arguments.length) {
        val a = arguments(k)
        val isOpen = mayBeNeutral(a)
        settles ||= mayAbsorb(a)
        mayBeNull ||= a.mayBeNull
        unsettled &&= isOpen || a.mayBeNull
        isNeutral &&= isOpen
        k += 1
      }
      // NULL comes out if none settles it and one is NULL.
      val isNull = unsettled && mayBeNull
      if (absorbsFalse) Truth.of(isTrue = isNeutral, isFalse = settles, isNull)
      else Truth.of(isTrue = settles, isFalse = isNeutral, isNull)
    }

    override def backward(
        result: Possible,
        arguments: IndexedSeq[Possible],
        index: Int
    ): Possible = {
      val own = arguments(index)
      val mayNotSettle = mayBeNeutral(result) || result.mayBeNull
      if (mayAbsorb(result)) {
        if (mayNotSettle || isOther(arguments, index)) own else own.intersect(justAbsorbing)
      } else own.intersect(if (result.mayBeNull) neutralOrNull else justNeutral)
    }

    /** Does another one perhaps settle it? */
    private def isOther(arguments: IndexedSeq[Possible], index: Int): Boolean =
      arguments.indices.exists(k => k != index && mayAbsorb(arguments(k)))

    /** One that settles it ends the evaluation. */
    override def evaluates(
        result: Possible,
        arguments: IndexedSeq[Possible],
        index: Int
    ): Boolean = {
      val mustSettle = !mayBeNeutral(result) && !result.mayBeNull
      !mayAbsorb(result) || (mustSettle && !isOther(arguments, index))
    }

    override def hasCases: Boolean = true

    override def cases(
        result: Possible,
        arguments: IndexedSeq[Possible]
    ): Seq[(Int, Possible)] = {
      val isSettled = mayAbsorb(result) && !mayBeNeutral(result) && !result.mayBeNull
      def open = arguments.indices.filter(k => mayAbsorb(arguments(k)))
      def isKnown = arguments.contains(justAbsorbing)
      if (!isSettled || isKnown) Nil else open.map(_ -> justAbsorbing)
    }

    override def text(arguments: Seq[String]): String = arguments.mkString("(", s" $name ", ")")
  }

  case object And extends Junction("AND", Possible.False)
  case object Or extends Junction("OR", Possible.True)

  case object Not extends Operation {
    def name: String = "NOT"
    def domain: Domain = Domain.Boolean
    override def forward(arguments: IndexedSeq[Possible]): Possible = {
      val a = arguments(0)
      Truth.of(isTrue = a.mayBeFalse, isFalse = a.mayBeTrue, isNull = a.mayBeNull)
    }
    override def backward(
        result: Possible,
        arguments: IndexedSeq[Possible],
        index: Int
    ): Possible = arguments(0).intersect(forward(Vector(result)))
  }

  /** `a IS NULL`, `isnan(a)`: is the value this special one? */
  final case class Is(special: Specials) extends Operation {
    def name: String = special.names.mkString("is ", " or ", "")
    def domain: Domain = Domain.Boolean

    /** `isnan(NULL)` is FALSE in Spark. */
    override def forward(arguments: IndexedSeq[Possible]): Possible = {
      val a = arguments(0)
      val isOther = a.values.nonEmpty || !a.specials.without(special).isEmpty
      Truth.of(isTrue = !(a.specials & special).isEmpty, isFalse = isOther, isNull = false)
    }

    override def backward(
        result: Possible,
        arguments: IndexedSeq[Possible],
        index: Int
    ): Possible = {
      val own = arguments(0)
      val yes =
        if (result.mayBeTrue) Possible(IntervalSet.Empty, own.specials & special)
        else Possible.Nothing
      val no =
        if (result.mayBeFalse) Possible(own.values, own.specials.without(special))
        else Possible.Nothing
      yes.union(no)
    }
  }

  /** `a IN (1, 2, 5)` of known values.
    *
    * @param withNull
    *   `Specials.Null` if the list holds a NULL: what is not in it is then NULL, not FALSE
    */
  final case class In(members: Vector[Rational], withNull: Specials) extends Operation {
    private val set = IntervalSet.points(members)
    private val sorted = members.distinct.sorted
    def name: String = "IN"
    def domain: Domain = Domain.Boolean

    override def forward(arguments: IndexedSeq[Possible]): Possible = {
      val a = arguments(0)
      val hasMember = a.values.spans.exists(holdsMember)
      val isMember = a.values.single.isDefined && hasMember
      val isOther = a.mayBeNaN || !(isMember || a.values.isEmpty)
      Truth.of(
        isTrue = hasMember,
        isFalse = isOther && !withNull.hasNull,
        isNull = a.mayBeNull || (isOther && withNull.hasNull)
      )
    }

    override def backward(
        result: Possible,
        arguments: IndexedSeq[Possible],
        index: Int
    ): Possible = {
      val own = arguments(0)
      val isOther = if (withNull.hasNull) result.mayBeNull else result.mayBeFalse
      val in = if (result.mayBeTrue) Possible.in(own.values.intersect(set)) else Possible.Nothing
      val out =
        if (isOther) Possible(own.values.minus(outside), own.specials & Specials.NaN)
        else Possible.Nothing
      val missing =
        if (result.mayBeNull) Possible(IntervalSet.Empty, own.specials & Specials.Null)
        else Possible.Nothing
      in.union(out).union(missing)
    }

    /** The first member that is not before the interval is in it, if any is. */
    private def holdsMember(span: Interval.Span[Rational]): Boolean = {
      val first = span.lower match {
        case Bound.Unbounded => 0
        case lower => sorted.search(Bound.at(lower)).insertionPoint
      }
      // An open end may itself be a member.
      sorted.slice(first, first + 2).exists(span.contains(_))
    }

    /** What may be taken away where the value is not in the list: nothing that is not in it. */
    private val outside = if (sorted.size <= IntervalSet.Most) set else IntervalSet.Empty
    override def text(arguments: Seq[String]): String =
      arguments.head + members.mkString(" IN (", ", ", ")")
  }
}
