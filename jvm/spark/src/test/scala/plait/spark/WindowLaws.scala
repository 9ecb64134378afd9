// SPDX-License-Identifier: Apache-2.0
// Laws: what the solver says of the start and the end of a window, against Spark's own evaluation.
package plait.spark

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import plait.constraint.Term
import plait.spark.translate.{ConditionTranslation, TermTranslation}
import plait.{BySide, Cases}

/** Windows that slide (`window(t, '10 minutes', '5 minutes')`), and such that do not. Spark's analyzer
  * computes the start of the `i`th window that holds `t` below a join; written by hand, or brought into
  * the condition by the optimizer, it stands in it.
  *
  * {{{
  * start = t - pmod(t - origin, slide) - i * slide        end = start + length
  * }}}
  */
class WindowLaws extends munit.FunSuite {
  import WindowLaws._
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  private val minute = 60000000L

  private def instant(random: Random): Long = random.nextInt(8) match {
    case 0 => Long.MinValue + random.nextInt(1000) * minute
    case 1 => Long.MaxValue - random.nextInt(1000) * minute
    case 2 => (random.nextInt(41) - 20) * minute
    case _ => (random.nextInt(41) - 20) * minute + random.nextInt(3) - 1
  }

  private def compared(random: Random, a: Expression, b: Expression): Expression =
    random.nextInt(5) match {
      case 0 => LessThan(a, b)
      case 1 => GreaterThanOrEqual(a, b)
      case 2 => EqualNullSafe(a, b)
      case 3 => Not(LessThanOrEqual(a, b))
      case _ => EqualTo(a, b)
    }

  for (dataType <- Seq(TimestampType, TimestampNTZType))
    test(s"starts and ends of windows of ${dataType.sql}, sliding ones too") {
      val random = new Random(Cases.seed)
      val laws = new AgainstSpark(random)
      val columns = "abst".zip(Seq(dataType, LongType, dataType, LongType)).map { case (name, t) =>
        AttributeReference(name.toString, t)()
      }
      // Of numbers more lie near to the ends of 64 bits.
      def time(column: Expression) =
        if (column.dataType == dataType) column
        else PreciseTimestampConversion(column, LongType, dataType)
      val held = Seq
        .fill(Cases.of(500, soak = 5000)) {
          val slide = (1 + random.nextInt(10)) * minute
          val overlapping = 1 + random.nextInt(4)
          val origin = random.nextInt(10) * minute % slide
          val mode = Window.modes(random.nextInt(Window.modes.size))
          val window = Window(overlapping * slide, slide, origin, NumericEvalContext(mode))
          def place(time: Expression) = {
            val i = random.nextInt(overlapping)
            val at = if (random.nextBoolean()) window.start(time, i) else window.end(time, i)
            PreciseTimestampConversion(at, LongType, dataType)
          }
          val other =
            if (random.nextBoolean()) place(time(columns(2 + random.nextInt(2))))
            else if (random.nextBoolean()) columns(2)
            else Literal(instant(random), dataType)
          laws.check(compared(random, place(time(columns(random.nextInt(2)))), other), columns)
        }
        .sum
      assert(held > 5000, s"only $held evaluations had a value")
    }

  test("the start of the window before is known as closely as that of the last") {
    val column = AttributeReference("t", TimestampType)()
    val window = Window(length = 10 * minute, slide = 5 * minute, origin = 0)
    val linear = new TermTranslation(BySide(AttributeSet(column), AttributeSet.empty))
    def isOpaque(e: Expression): Boolean = {
      def all(term: Term): Seq[Term] = term +: term.children.flatMap(all)
      all(new ConditionTranslation(linear).term(e)).exists(_.isInstanceOf[Term.Opaque])
    }
    for (i <- 0 to 1; place <- Seq(window.start(column, i), window.end(column, i)))
      assert(!isOpaque(PreciseTimestampConversion(place, LongType, TimestampType)), s"$i")
  }
}

private object WindowLaws {
  object Window {
    val modes: Seq[EvalMode.Value] = Seq(EvalMode.LEGACY, EvalMode.ANSI, EvalMode.TRY)
  }
  final case class Window(
      length: Long,
      slide: Long,
      origin: Long,
      context: NumericEvalContext = NumericEvalContext(EvalMode.ANSI)
  ) {

    /** As `ResolveTimeWindows` writes it. */
    def start(time: Expression, i: Int): Expression = {
      val t = PreciseTimestampConversion(time, time.dataType, LongType)
      val rest = Remainder(Subtract(t, Literal(origin), context), Literal(slide), context)
      val last = Subtract(
        t,
        CaseWhen(
          Seq((LessThan(rest, Literal(0L)), Add(rest, Literal(slide), context))),
          Some(rest)
        ),
        context
      )
      Subtract(last, Literal(i * slide), context)
    }
    def end(time: Expression, i: Int): Expression = Add(start(time, i), Literal(length), context)
  }
}
