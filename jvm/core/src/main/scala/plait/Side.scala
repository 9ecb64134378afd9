// SPDX-License-Identifier: Apache-2.0
package plait

/** One of the two inputs of a join. */
sealed abstract class Side(val name: String) {
  def other: Side
  override def toString: String = name
}

object Side {
  case object Left extends Side("left") { def other: Side = Right }
  case object Right extends Side("right") { def other: Side = Left }
  val both: Seq[Side] = Seq(Left, Right)
}

/** One thing a side. */
final case class BySide[+A](left: A, right: A) {
  def apply(side: Side): A = if (side eq Side.Left) left else right
  def map[B](f: A => B): BySide[B] = BySide(f(left), f(right))
  def flip: BySide[A] = BySide(right, left)
}

object BySide {
  def make[A](f: Side => A): BySide[A] = BySide(f(Side.Left), f(Side.Right))
}
