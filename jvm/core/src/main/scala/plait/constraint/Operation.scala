// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.interval.{Domain, Possible, Specials}

/** What a [[Term.Call]] does with its arguments: how sets of values go up through it and come back.
  *
  * {{{
  * forward    of A, B              ⊇ { f(a, b) : a ∈ A, b ∈ B }
  * backward   of R to argument 0   ⊇ { a ∈ A : f(a, b) ∈ R for some b ∈ B }
  * }}}
  *
  * Conventions:
  *   1. Both are supersets, so that what they narrow away cannot occur.
  *   2. NULL and NaN are values like others: they are in `A`, or they are not.
  *   3. Where Spark raises an error there is no value: a pair of rows that fails has no answer, and
  *      what never gets an answer need not be kept. An argument without a value is `Nothing`.
  *   4. The arguments are a view of what is known now: an operation reads them and keeps none.
  */
trait Operation extends Serializable {
  def name: String

  /** What the result is one of. */
  def domain: Domain

  def forward(arguments: IndexedSeq[Possible]): Possible

  def backward(result: Possible, arguments: IndexedSeq[Possible], index: Int): Possible

  /** Is this argument surely evaluated if the operation is, given what is known? Where it may not be
    * (`IF(n = 0, 0, 10 div n)`), that it would fail says nothing of its own arguments.
    */
  def evaluates(result: Possible, arguments: IndexedSeq[Possible], index: Int): Boolean = true

  /** Does the result tell little until it is known which argument it comes from? Gives the cases to
    * try, each a value for one argument, of which at least one must be so.
    */
  def cases(result: Possible, arguments: IndexedSeq[Possible]): Seq[(Int, Possible)] = Nil

  /** Does it ever have cases? */
  def hasCases: Boolean = false

  def text(arguments: Seq[String]): String =
    if (name.exists(_.isLetter) || arguments.size != 2) arguments.mkString(s"$name(", ", ", ")")
    else s"(${arguments(0)} $name ${arguments(1)})"

  override def toString: String = name
}

/** NULL in any argument gives NULL, and stops the evaluation: in `a + 10 div n` with `a` NULL the
  * division is not made, and in `a % b` with `b` NULL it is `a` that is not looked at. So an argument
  * is surely evaluated only if no other one can be NULL, whichever comes first.
  */
trait NullIntolerant extends Operation {
  override def evaluates(
      result: Possible,
      arguments: IndexedSeq[Possible],
      index: Int
  ): Boolean = !result.mayBeNull || !Specials.among(arguments, index).hasNull
}
