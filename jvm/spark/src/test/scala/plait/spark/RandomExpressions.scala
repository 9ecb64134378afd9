// SPDX-License-Identifier: Apache-2.0
package plait.spark

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import plait.Cases

/** Random expressions of a type over some columns, in random evaluation modes. */
final class RandomExpressions(random: Random, values: RandomValues, zone: String) {
  import RandomExpressions._

  private def pick[A](from: A*): A = from(random.nextInt(from.size))
  private def mode: EvalMode.Value = pick(EvalMode.ANSI, EvalMode.LEGACY, EvalMode.TRY)

  /** Half of them conditions, half values. */
  def condition(family: Family, columns: Seq[AttributeReference]): Expression =
    if (random.nextInt(3) > 0) boolean(family, columns, 3)
    else value(family, columns, pick(family.types: _*), 3)

  /** One operation over columns and literals. */
  def operation(family: Family, columns: Seq[AttributeReference]): Expression =
    if (random.nextInt(4) == 0) boolean(family, columns, 1)
    else value(family, columns, pick(family.types: _*), 1)

  private def boolean(f: Family, columns: Seq[AttributeReference], depth: Int): Expression = {
    def sub() = boolean(f, columns, depth - 1)
    def subject = pick(f.types: _*)
    if (depth == 0) {
      val booleans = columns.filter(_.dataType == BooleanType)
      if (booleans.nonEmpty && random.nextBoolean()) pick(booleans: _*)
      else Literal(pick[Any](true, false, null), BooleanType)
    } else
      random.nextInt(15) match {
        case 0 => And(sub(), sub())
        case 1 => Or(sub(), sub())
        case 2 => Not(sub())
        case 3 => IsNull(value(f, columns, subject, depth - 1))
        case 4 => IsNotNull(value(f, columns, subject, depth - 1))
        case 5 =>
          val t = subject
          val list = Seq.fill(1 + random.nextInt(5))(Literal(values.of(t), t))
          val x = value(f, columns, t, depth - 1)
          val members = list.map(_.value).toSet
          // Spark does not agree with itself whether NaN is in a set with a NULL.
          if (members.contains(null) || random.nextBoolean()) In(x, list) else InSet(x, members)
        case 6 if f.types.contains(DoubleType) => IsNaN(value(f, columns, DoubleType, depth - 1))
        case 7 => If(sub(), sub(), sub())
        case 8 =>
          val t = subject
          def v = value(f, columns, t, depth - 1)
          // BETWEEN: one value in two places.
          val x = value(f, columns, t, 0)
          And(GreaterThanOrEqual(x, v), LessThanOrEqual(x, v))
        case _ =>
          val t = subject
          def v = value(f, columns, t, depth - 1)
          random.nextInt(6) match {
            case 0 => LessThan(v, v)
            case 1 => LessThanOrEqual(v, v)
            case 2 => GreaterThan(v, v)
            case 3 => GreaterThanOrEqual(v, v)
            case 4 => EqualTo(v, v)
            case _ => EqualNullSafe(v, v)
          }
      }
  }

  private def value(
      f: Family,
      columns: Seq[AttributeReference],
      t: DataType,
      depth: Int
  ): Expression = {
    def sub(of: DataType) = value(f, columns, of, depth - 1)
    def leaf = {
      val own = columns.filter(_.dataType == t)
      if (own.nonEmpty && random.nextInt(4) > 0) pick(own: _*) else Literal(values.of(t), t)
    }
    val general: Seq[() => Expression] = Seq(
      () => If(boolean(f, columns, depth - 1), sub(t), sub(t)),
      () =>
        CaseWhen(Seq.fill(2)(boolean(f, columns, depth - 1) -> sub(t)), pick(None, Some(sub(t)))),
      () => Coalesce(Seq(sub(t), sub(t))),
      () => Least(Seq(sub(t), sub(t))),
      () => Greatest(Seq(sub(t), sub(t)))
    )
    if (depth == 0 || random.nextInt(5) == 0) leaf
    else {
      val own = special(f, columns, t, depth)
      val candidate =
        (if (own.nonEmpty && random.nextInt(5) > 0) pick(own: _*) else pick(general: _*)) ()
      // The type checker may refuse what random types make; a column does then.
      if (candidate.checkInputDataTypes().isSuccess && candidate.dataType == t) candidate else leaf
    }
  }

  private def special(
      f: Family,
      columns: Seq[AttributeReference],
      t: DataType,
      depth: Int
  ): Seq[() => Expression] = {
    def sub(of: DataType) = value(f, columns, of, depth - 1)
    def context = NumericEvalContext(mode, true)
    def cast: Seq[() => Expression] = Seq { () =>
      val from = pick(f.types: _*)
      val m = mode
      if (Cast.canCast(from, t) && (m == EvalMode.LEGACY || Cast.canAnsiCast(from, t)))
        Cast(sub(from), t, Some(zone), m)
      else sub(t)
    }
    def fails = random.nextBoolean()
    t match {
      case BooleanType => Seq(() => boolean(f, columns, depth))
      case ByteType | ShortType | IntegerType | LongType =>
        def same: Seq[() => Expression] = Seq(
          () => Add(sub(t), sub(t), context),
          () => Subtract(sub(t), sub(t), context),
          () => Multiply(sub(t), sub(t), context),
          () => square(sub(t), context),
          () => Remainder(sub(t), sub(t), context),
          () => Pmod(sub(t), sub(t), context),
          () => UnaryMinus(sub(t), fails),
          () => Abs(sub(t), fails),
          () => Round(sub(t), Literal(random.nextInt(4) - 2), fails),
          () => BRound(sub(t), Literal(random.nextInt(4) - 2), fails)
        )
        val long: Seq[() => Expression] =
          if (t != LongType) Nil
          else
            Seq(
              () => IntegralDivide(sub(LongType), sub(LongType), context),
              () =>
                windowStart(
                  PreciseTimestampConversion(sub(TimestampType), TimestampType, LongType),
                  context
                ),
              () => Floor(sub(pick(f.types: _*)), fails),
              () => Ceil(sub(pick(f.types: _*)), fails),
              () => UnixSeconds(sub(TimestampType)),
              () => {
                val unit =
                  pick("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
                def time = pick(TimestampType, TimestampNTZType)
                TimestampDiff(unit, sub(time), sub(time), Some(zone))
              },
              () => UnixMillis(sub(TimestampType)),
              () => UnixMicros(sub(TimestampType)),
              () => ToUnixTimestamp(sub(pick(TimestampType, DateType)), Literal("yyyy"), Some(zone))
            )
        val int: Seq[() => Expression] =
          if (t != IntegerType) Nil
          else
            Seq(
              () => DateDiff(sub(DateType), sub(DateType)),
              () => UnixDate(sub(DateType)),
              () => Year(sub(DateType))
            )
        same ++ cast ++ long ++ int
      case d: DecimalType =>
        def other = pick(f.types.collect { case x: DecimalType => x }: _*)
        Seq[() => Expression](
          () => Add(sub(other), sub(other), context),
          () => Subtract(sub(other), sub(other), context),
          () => Multiply(sub(other), sub(other), context),
          () => square(sub(other), context),
          () => Divide(sub(other), sub(other), context),
          () => Remainder(sub(other), sub(other), context),
          () => Pmod(sub(other), sub(other), context),
          () => IntegralDivide(sub(other), sub(other), context),
          () => UnaryMinus(sub(d), fails),
          () => Abs(sub(d), fails),
          () => Round(sub(other), Literal(random.nextInt(5) - 2), fails),
          () => BRound(sub(other), Literal(random.nextInt(5) - 2), fails),
          () => RoundFloor(sub(other), Literal(random.nextInt(5) - 2)),
          () => RoundCeil(sub(other), Literal(random.nextInt(5) - 2)),
          () => Floor(sub(other), fails),
          () => Ceil(sub(other), fails)
        ).map(make => () => Cast(make(), d, Some(zone), mode)) ++ cast
      case DoubleType | FloatType =>
        Seq[() => Expression](
          () => Add(sub(t), sub(t), context),
          () => Subtract(sub(t), sub(t), context),
          () => Multiply(sub(t), sub(t), context),
          () => square(sub(t), context),
          () => Divide(sub(t), sub(t), context),
          () => Remainder(sub(t), sub(t), context),
          () => Pmod(sub(t), sub(t), context),
          () => UnaryMinus(sub(t), fails),
          () => Abs(sub(t), fails),
          () => Signum(sub(DoubleType)),
          () => Round(sub(t), Literal(random.nextInt(5) - 2), fails),
          () => BRound(sub(t), Literal(random.nextInt(5) - 2), fails)
        ) ++ (if (t == DoubleType) elementary(sub(DoubleType), sub(DoubleType)) else Nil) ++ cast
      case DateType =>
        Seq[() => Expression](
          () => DateAdd(sub(DateType), sub(IntegerType)),
          () => DateSub(sub(DateType), Literal(random.nextInt(40) - 20)),
          () => AddMonths(sub(DateType), Literal(random.nextInt(30) - 15)),
          () => DateAddYMInterval(sub(DateType), sub(YearMonthIntervalType())),
          () => TruncDate(sub(DateType), Literal(pick("WEEK", "MONTH", "QUARTER", "YEAR")))
        ) ++ cast
      case TimestampType | TimestampNTZType =>
        val both = Seq[() => Expression](
          () => TimestampAddInterval(sub(t), sub(DayTimeIntervalType()), Some(zone)),
          () =>
            TimestampAddInterval(
              sub(t),
              Literal(values.of(DayTimeIntervalType()), DayTimeIntervalType()),
              Some(zone)
            ),
          () => TimestampAddYMInterval(sub(t), sub(YearMonthIntervalType()), Some(zone)),
          () => {
            val unit =
              pick("SECOND", "HOUR", "DAY", "DAYOFYEAR", "WEEK", "MONTH", "QUARTER", "YEAR")
            val few = Literal((random.nextInt(60) - 30).toLong)
            TimestampAdd(unit, pick(few, sub(LongType)), sub(t), Some(zone))
          }
        )
        val zoned =
          if (t == TimestampNTZType) Nil
          else
            Seq[() => Expression](
              () =>
                TruncTimestamp(
                  Literal(
                    pick(
                      "SECOND",
                      "MINUTE",
                      "HOUR",
                      "DAY",
                      "WEEK",
                      "MONTH",
                      "QUARTER",
                      "YEAR",
                      "MILLISECOND"
                    )
                  ),
                  sub(t),
                  Some(zone)
                ),
              () => SecondsToTimestamp(sub(LongType)),
              () => MillisToTimestamp(sub(LongType)),
              () => MicrosToTimestamp(sub(LongType))
            )
        both ++ zoned ++ cast
      case _: DayTimeIntervalType =>
        def times = pick(TimestampType, TimestampNTZType)
        Seq[() => Expression](
          () => { val x = times; SubtractTimestamps(sub(x), sub(x), false, Some(zone)) },
          () => Add(sub(t), sub(t), NumericEvalContext(EvalMode.ANSI)),
          () => Subtract(sub(t), sub(t), NumericEvalContext(EvalMode.ANSI)),
          () => UnaryMinus(sub(t), failOnError = true),
          () => Abs(sub(t), failOnError = true),
          () => MultiplyDTInterval(sub(t), factor(f, columns, depth)),
          () => DivideDTInterval(sub(t), factor(f, columns, depth))
        ) ++ cast
      case _: YearMonthIntervalType =>
        Seq[() => Expression](
          () => Add(sub(t), sub(t), NumericEvalContext(EvalMode.ANSI)),
          () => MultiplyYMInterval(sub(t), factor(f, columns, depth)),
          () => DivideYMInterval(sub(t), factor(f, columns, depth))
        ) ++ cast
      case _ => Nil
    }
  }

  /** What intervals are multiplied by: a column, or a number as people write it. */
  private def factor(f: Family, columns: Seq[AttributeReference], depth: Int): Expression =
    random.nextInt(4) match {
      case 0 => value(f, columns, pick(IntegerType, LongType), depth - 1)
      case 1 => Literal(pick(2, 3, -7, 0))
      case 2 =>
        val t = pick(DecimalType(3, 1), DecimalType(12, 6), DecimalType(38, 20))
        Literal(values.of(t), t)
      case _ => Literal(pick(0.5, 2.0, -1.5, 0.1, 1e18))
    }

  private def square(x: Expression, context: NumericEvalContext) = Multiply(x, x, context)

  /** The start of a window, as Spark's analyzer writes it. */
  private def windowStart(t: Expression, context: => NumericEvalContext): Expression = {
    val length = Literal(pick(600000000L, 3600000000L, 86400000000L))
    val start = Literal(pick(0L, 0L, 60000000L, -60000000L))
    val c = context
    val rest = Remainder(Subtract(t, start, c), length, c)
    val adjusted = CaseWhen(Seq(LessThan(rest, Literal(0L)) -> Add(rest, length, c)), Some(rest))
    Subtract(t, adjusted, c)
  }

  private def elementary(x: => Expression, y: => Expression): Seq[() => Expression] = Seq(
    () => Sqrt(x),
    () => Cbrt(x),
    () => Exp(x),
    () => Expm1(x),
    () => Log(x),
    () => Log2(x),
    () => Log10(x),
    () => Log1p(x),
    () => Sin(x),
    () => Cos(x),
    () => Tan(x),
    () => Asin(x),
    () => Acos(x),
    () => Atan(x),
    () => Sinh(x),
    () => Cosh(x),
    () => Tanh(x),
    () => ToDegrees(x),
    () => ToRadians(x),
    () => Pow(x, Literal(pick(-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0))),
    () => Pow(x, y),
    () => Logarithm(Literal(pick(2.0, 10.0, 0.5)), x),
    () => Logarithm(x, y)
  )
}

object RandomExpressions {

  /** How many expressions are tried of a family, in each zone, with 40 rows each. */
  val count: Int = Cases.of(500, soak = 5000)

  final case class Family(
      name: String,
      types: Seq[DataType],
      zones: Seq[String] = Seq("UTC")
  )

  /** Where clocks change by an hour, by none, by half past midnight, and by a day. */
  val zones: Seq[String] =
    Seq("UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Pacific/Apia")

  val families: Seq[Family] = Seq(
    Family("integers", Seq(ByteType, ShortType, IntegerType, LongType, BooleanType)),
    Family("decimals", Seq(DecimalType(5, 2), DecimalType(9, 0), DecimalType(38, 10), IntegerType)),
    Family("floating numbers", Seq(DoubleType, FloatType, LongType, IntegerType, BooleanType)),
    Family("numbers of all kinds", Seq(DoubleType, DecimalType(12, 3), IntegerType, ByteType)),
    Family("texts", Seq(StringType, BooleanType)),
    Family(
      "dates, timestamps and intervals",
      Seq(
        DateType,
        TimestampType,
        TimestampNTZType,
        DayTimeIntervalType(),
        YearMonthIntervalType(),
        IntegerType,
        LongType
      ),
      zones
    )
  )
}
