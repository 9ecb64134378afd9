// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{
  Block,
  CodeGenerator,
  CodegenContext,
  EmptyBlock,
  ExprCode,
  FalseLiteral
}
import org.apache.spark.sql.types.{DataType, LongType}

import plait.order.ReachEnd.{Openness, Toward, WholeFormula}
import plait.order.{ReachBound, ReachEnd, Saturating}

/** A [[ReachEnd]] as an expression over a row: one 64-bit integer, NULL if any value that it needs is
  * NULL (then the row reaches nothing).
  *
  * {{{
  * (l.s - 7, l.s - 4), low end       Saturating.after(Saturating.addDown(-7L, s))
  * }}}
  *
  * @param children
  *   the values that the end names by index, all of type long
  */
final case class ReachEndValue(end: ReachEnd, children: Seq[Expression]) extends Expression {
  override def dataType: DataType = LongType
  override def nullable: Boolean = children.exists(_.nullable)

  override def eval(input: InternalRow): Any = {
    val values = children.map(_.eval(input))
    if (values.contains(null)) null else end.at(values.map(_.asInstanceOf[Long]).toArray)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val values = children.map(_.genCode(ctx))
    val isNull = values.map(_.isNull).filterNot(_ == FalseLiteral)
    val missing = if (isNull.isEmpty) "false" else isNull.mkString(" || ")
    // Values are only used where none is missing, but Java wants them all assigned before.
    val codes = values.map(_.code).fold[Block](EmptyBlock)(_ + _)
    ev.copy(code = code"""
      $codes
      boolean ${ev.isNull} = $missing;
      ${CodeGenerator.javaType(dataType)} ${ev.value} = 0L;
      if (!${ev.isNull}) {
        ${computed(ev.value.toString, values.map(_.value.toString), ctx)}
      }""")
  }

  /** Integers become Java; what rounds doubles outward is written once, and called. */
  private def computed(result: String, values: Seq[String], ctx: CodegenContext): String = {
    val whole = end.formulas.collect { case formula: WholeFormula => formula }
    if (whole.size == end.formulas.size) {
      val java = whole.map(javaOf(_, values)).reduceOption((a, b) => s"$tighter($a, $b)")
      s"$result = ${java.getOrElse(s"${end.toward.unbounded}L")};"
    } else {
      val ends = ctx.addReferenceObj("end", end, classOf[ReachEnd].getName)
      val ranks = ctx.addMutableState("long[]", "ranks", v => s"$v = new long[${values.size}];")
      val filled = values.zipWithIndex.map { case (value, i) => s"$ranks[$i] = $value;" }
      (filled :+ s"$result = $ends.at($ranks);").mkString("\n")
    }
  }

  private def javaOf(formula: WholeFormula, values: Seq[String]): String = {
    val sum = formula.terms.foldLeft(s"${formula.constant}L") { case (sum, (index, k)) =>
      s"$saturating.$add($sum, ${times(values(index), k)})"
    }
    if (formula.openness == Openness.Open)
      s"$saturating.$inside(${divided(sum, formula.divisor, quotientOfOpen)})"
    else divided(sum, formula.divisor, quotient)
  }

  private def times(value: String, k: Long): String = k match {
    case 1 => value
    case -1 => s"$saturating.negate($value)"
    case _ => s"$saturating.times($value, ${k}L)"
  }

  private def divided(sum: String, divisor: Long, quotient: String): String =
    if (divisor == 1) sum else s"$saturating.$quotient($sum, ${divisor}L)"

  private def saturating: String = Saturating.getClass.getName.stripSuffix("$")

  private def isLow: Boolean = end.toward == ReachEnd.Low
  private def add: String = if (isLow) "addDown" else "addUp"
  private def inside: String = if (isLow) "after" else "before"
  private def quotient: String = if (isLow) "ceilDown" else "floorUp"
  private def quotientOfOpen: String = if (isLow) "floorDown" else "ceilUp"
  private def tighter: String = if (isLow) "Math.max" else "Math.min"

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): ReachEndValue = copy(children = newChildren)
}

object ReachEndValue {

  /** The end that these bounds give for a row. */
  def of(toward: Toward, bounds: Seq[ReachBound], translation: TermTranslation): ReachEndValue = {
    val (end, variables) = ReachEnd.of(toward, bounds)
    val sources = variables.map(v => NullOnError.unlessColumn(translation.source(v)))
    ReachEndValue(end, sources.map(OrderValue(_)))
  }
}
