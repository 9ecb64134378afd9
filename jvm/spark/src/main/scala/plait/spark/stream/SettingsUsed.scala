// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.expressions.{
  Cast,
  EvalMode,
  Expression,
  NumericEvalContext,
  Sequence,
  TimeZoneAwareExpression,
  TimestampAddInterval
}
import org.apache.spark.sql.internal.SQLConf

import plait.spark.translate.{InstantSum, OrderedType}

/** The settings of a session that the values of expressions follow from, and that no text of them shows:
  *
  * {{{
  * date_trunc('DAY', ts)       spark.sql.session.timeZone Europe/Berlin
  * a + 1                       spark.sql.ansi.enabled true
  * ts + INTERVAL 1 HOUR        none
  * }}}
  *
  * Of an expression that only may follow from a setting (a cast whose text is never a number) it is named, too.
  *
  * @param ofStreams
  *   the expressions of the join, and those that rows of streams come through
  * @param all
  *   those, and what columns of tables are made of
  * @param readsCache
  *   whether a table is read that is cached
  */
final class SettingsUsed(
    ofStreams: Seq[Expression],
    all: Seq[Expression],
    readsCache: Boolean
) {
  import SettingsUsed._

  private val own = split(of(ofStreams))._1

  // A sequence of whole numbers was once written with its zone.
  private val mayHaveHadMore = all.exists(_.exists {
    case sequence: Sequence => isOfNumbers(sequence)
    case _ => false
  })

  /** Whether these lines and those are of the same values. Tables count where both say something of them: of one that is
    * or was cached nothing is said.
    * @param before
    *   as they were written
    */
  def areSame(before: Seq[String], now: Seq[String]): Boolean = {
    val (saidBefore, othersBefore) = split(before)
    val (said, others) = split(now)
    val (moreBefore, more) = (saidBefore -- own, said -- own)
    othersBefore == others && own.subsetOf(saidBefore) && (
      moreBefore == more || moreBefore.isEmpty || (more.isEmpty && readsCache) ||
        (mayHaveHadMore && more.subsetOf(moreBefore))
    )
  }

  /** Each setting with each value that it has had, and all other lines. */
  private def split(lines: Seq[String]): (Set[(String, String)], Seq[String]) = {
    val (settings, others) = lines.partition(line => Keys.exists(key => line.startsWith(s"$key ")))
    val said = for {
      words <- settings.map(_.split(' '))
      value <- words.tail
    } yield words.head -> value
    (said.toSet, others)
  }
}

object SettingsUsed {
  private val Keys = Seq(SQLConf.SESSION_LOCAL_TIMEZONE.key, SQLConf.ANSI_ENABLED.key)

  /** One line for each, `key value`. */
  def of(expressions: Seq[Expression]): Seq[String] = {
    val all = expressions.flatMap(_.collect { case e => e })
    val zones = all.flatMap(zone).distinct.sorted
    val modes = all.flatMap(mode).distinct.sorted
    Option
      .when(zones.nonEmpty)(s"${SQLConf.SESSION_LOCAL_TIMEZONE.key} ${zones.mkString(" ")}")
      .toSeq ++
      modes.map(isAnsi => s"${SQLConf.ANSI_ENABLED.key} $isAnsi")
  }

  private def zone(expression: Expression): Option[String] = expression match {
    case cast: Cast if !Cast.needsTimeZone(cast.child.dataType, cast.dataType) => None
    case sum: TimestampAddInterval if InstantSum.is(sum) => None
    case numbers: Sequence if isOfNumbers(numbers) => None
    // One zone of a fixed offset has many names.
    case aware: TimeZoneAwareExpression => aware.timeZoneId.map(_ => aware.zoneId.normalized.getId)
    case _ => None
  }

  /** Has a zone, and no step of it follows from that. */
  private def isOfNumbers(sequence: Sequence) =
    OrderedType.Integers.unapply(sequence.start.dataType)

  /** TRY is written out. */
  private def mode(expression: Expression): Option[Boolean] = {
    val modes = expression match {
      case cast: Cast if Cast.canUpCast(cast.child.dataType, cast.dataType) => Iterator.empty
      case product: Product =>
        product.productIterator.collect {
          case mode: EvalMode.Value => mode
          case NumericEvalContext(mode, _) => mode
        }
      case _ => Iterator.empty
    }
    modes.filter(_ != EvalMode.TRY).map(_ == EvalMode.ANSI).nextOption()
  }
}
