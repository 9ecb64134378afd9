// SPDX-License-Identifier: Apache-2.0
package plait.spark

import org.apache.spark.sql.internal.SQLConf

/** Plait's settings of a session. Every key can be set when the session is built and changed later.
  *
  * {{{
  * spark.plait.enabled             true     everything of Plait, on or off
  * spark.plait.join.strategy       auto     which joins Plait runs: auto, always, never
  * spark.plait.join.radix          auto     whether rows of few to a key are joined by bucket instead of sorted: auto,
  *                                          always, never
  * spark.plait.join.index          auto     whether a collected side of a join by key is indexed: auto, always
  * spark.plait.join.whole-stage    true     whether pairs go to the generated code of what stands above, not as rows
  * spark.plait.join.log-probes     false    a line a join at its end (see ProbeLog)
  * spark.plait.join.footers        32       of so many files of a table the footers are read, to see how far its
  *                                          columns reach; of a table of more of none
  * spark.plait.order.violation     fail     rows against a declared order: fail, drop, keep; in streams
  *                                          drop or fail, and drop if nothing is said
  * spark.plait.stream.frontier     query    event time: the watermark of the query, or of each side
  * spark.plait.stream.late         drop     rows of a stream behind its frontier: drop, fail, null-pad
  * spark.plait.stream.unbounded-state auto  rows of a stream that wait for ever: auto, error, warn, allow
  * spark.plait.stream.max-rows-per-key none how many rows of a key a side of a join of streams stores: a number
  * spark.plait.stream.at-limit     fail     what is done about more: fail, evict; about rows that are too old by
  *                                          STATE_TTL evict, if nothing is said
  * spark.plait.trace.buffered      false    sample the rows buffered every 1,000 rows read
  * spark.plait.planning.on-error   spark    spark: Spark's own plan and a warning; fail: the error
  * }}}
  */
final case class PlaitConf(conf: SQLConf) {
  def enabled: Boolean = flag(PlaitConf.Enabled, "true")
  def joinStrategy: JoinStrategyChoice =
    choice(PlaitConf.JoinStrategy, JoinStrategyChoice.All, JoinStrategyChoice.Auto)(_.name)

  def radixJoin: RadixJoinChoice =
    choice(PlaitConf.RadixJoin, RadixJoinChoice.All, RadixJoinChoice.Auto)(_.name)

  def index: IndexChoice = choice(PlaitConf.Index, IndexChoice.All, IndexChoice.Auto)(_.name)

  /** The setting that leaves every join to Spark but for those with a hint, if one does. */
  def turnedOff: Option[String] =
    if (!enabled) Some(s"${PlaitConf.Enabled}=false")
    else
      Option.when(joinStrategy == JoinStrategyChoice.Never)(
        s"${PlaitConf.JoinStrategy}=${JoinStrategyChoice.Never.name}"
      )
  def orderViolation: OrderViolation =
    choice(PlaitConf.OnViolation, OrderViolation.All, OrderViolation.Fail)(_.name)
  def orderViolationInStreams: OrderViolation =
    choice(PlaitConf.OnViolation, OrderViolation.All, OrderViolation.Drop)(_.name)
  def eventTimeFrontier: EventTimeFrontier =
    choice(PlaitConf.Frontier, EventTimeFrontier.All, EventTimeFrontier.OfQuery)(_.name)
  def unboundedState: UnboundedState =
    choice(PlaitConf.Unbounded, UnboundedState.All, UnboundedState.Auto)(_.name)
  def lateRows: LateRows = choice(PlaitConf.Late, LateRows.All, LateRows.Drop)(_.name)

  /** None: as many as wait. */
  def keyLimit: Option[RowsOfKey] = wholeAbove0(PlaitConf.MostOfKey, "none").map { most =>
    RowsOfKey(most, choice(PlaitConf.OnLimit, AtLimit.All, AtLimit.Fail)(_.name))
  }

  /** What becomes of rows that have waited for as long as they are to be remembered. */
  def atStateTtl: AtLimit = choice(PlaitConf.OnLimit, AtLimit.All, AtLimit.Evict)(_.name)

  def mostFooters: Int = {
    val value = conf.getConfString(PlaitConf.Footers, "32").trim
    value.toIntOption.filter(_ >= 0).getOrElse {
      throw new IllegalArgumentException(
        s"${PlaitConf.Footers} is '$value', but must be a whole number from 0, which reads none, to ${Int.MaxValue}"
      )
    }
  }

  def wholeStage: Boolean = flag(PlaitConf.WholeStage, "true")
  def logProbes: Boolean = flag(PlaitConf.LogProbes, "false")
  def traceBuffered: Boolean = flag(PlaitConf.TraceBuffered, "false")
  def failsOnPlanningError: Boolean =
    oneOf(PlaitConf.PlanningOnError, "spark", Seq("spark", "fail")) == "fail"

  /** Raises the error of a value that is none, though the query at hand may have no use for it. */
  def check(): Unit = {
    val _ = Seq[Any](
      joinStrategy,
      radixJoin,
      index,
      wholeStage,
      logProbes,
      mostFooters,
      orderViolation,
      eventTimeFrontier,
      lateRows,
      unboundedState,
      keyLimit,
      atStateTtl,
      traceBuffered,
      failsOnPlanningError
    )
  }

  private def flag(key: String, default: String): Boolean =
    oneOf(key, default, Seq("true", "false")) == "true"

  private def wholeAbove0(key: String, none: String): Option[Int] = {
    val value = conf.getConfString(key, none).trim.toLowerCase(java.util.Locale.ROOT)
    if (value == none) None
    else
      value.toIntOption.filter(_ > 0).orElse {
        throw new IllegalArgumentException(
          s"$key is '$value', but must be a whole number from 1 to ${Int.MaxValue}, or $none"
        )
      }
  }

  private def choice[A](key: String, all: Seq[A], default: A)(name: A => String): A = {
    val value = oneOf(key, name(default), all.map(name))
    all.find(name(_) == value).get
  }

  private def oneOf(key: String, default: String, allowed: Seq[String]): String = {
    val value = conf.getConfString(key, default).trim.toLowerCase(java.util.Locale.ROOT)
    if (!allowed.contains(value))
      throw new IllegalArgumentException(
        s"$key is '$value', but must be one of ${allowed.mkString(", ")}"
      )
    value
  }
}

/** Which of the joins that Plait could run it does run, where no hint says so. */
sealed abstract class JoinStrategyChoice(val name: String)

object JoinStrategyChoice {

  /** Those of which it can prune a side. */
  case object Auto extends JoinStrategyChoice("auto")

  /** All that have an equality between the sides. */
  case object Always extends JoinStrategyChoice("always")
  case object Never extends JoinStrategyChoice("never")

  val All: Seq[JoinStrategyChoice] = Seq(Auto, Always, Never)
}

/** Whether tasks join rows that would be sorted first bucket by bucket instead. */
sealed abstract class RadixJoinChoice(val name: String)

object RadixJoinChoice {

  /** Where there are many rows, and few to a key. */
  case object Auto extends RadixJoinChoice("auto")

  /** Wherever all rows of a task lie in memory. */
  case object Always extends RadixJoinChoice("always")
  case object Never extends RadixJoinChoice("never")

  val All: Seq[RadixJoinChoice] = Seq(Auto, Always, Never)
}

/** Whether a collected side of a join by key is indexed. */
sealed abstract class IndexChoice(val name: String)

object IndexChoice {

  /** Where many rows share a key; else rows are looked up by key alone, as in Spark's own join. */
  case object Auto extends IndexChoice("auto")

  /** However few share one. */
  case object Always extends IndexChoice("always")

  val All: Seq[IndexChoice] = Seq(Auto, Always)
}

/** What becomes of a row that comes against the order declared of its relation. */
sealed abstract class OrderViolation(val name: String)

object OrderViolation {

  /** It ends the query with an error. */
  case object Fail extends OrderViolation("fail")

  /** It is left out, and counted. */
  case object Drop extends OrderViolation("drop")

  /** It is taken as any other, and counted. */
  case object Keep extends OrderViolation("keep")

  val All: Seq[OrderViolation] = Seq(Fail, Drop, Keep)
}

/** How far a stream has come, by its event time. */
sealed abstract class EventTimeFrontier(val name: String)

object EventTimeFrontier {

  /** As Spark's one watermark of a query says, the least of all its sources'. A source that is idle holds
    * the others back.
    */
  case object OfQuery extends EventTimeFrontier("query")

  /** As each side's own rows say: rows that come later than its watermark allows are late, whatever the other
    * source does.
    */
  case object OfSide extends EventTimeFrontier("side")

  val All: Seq[EventTimeFrontier] = Seq(OfQuery, OfSide)
}

/** What becomes of a join of streams that keeps rows for ever. */
sealed abstract class UnboundedState(val name: String)

object UnboundedState {

  /** It is refused if they are rows that come out, and told of if not. */
  case object Auto extends UnboundedState("auto")

  /** It is refused. */
  case object Error extends UnboundedState("error")

  /** The log says so when it starts. */
  case object Warn extends UnboundedState("warn")
  case object Allow extends UnboundedState("allow")

  val All: Seq[UnboundedState] = Seq(Auto, Error, Warn, Allow)
}

/** What becomes of a row of a stream that comes behind its side's frontier. */
sealed abstract class LateRows(val name: String)

object LateRows {
  case object Drop extends LateRows("drop")

  /** It ends the query with an error. */
  case object Fail extends LateRows("fail")

  /** One of a side whose rows come out without a match comes out so, at once; others are left out. */
  case object NullPad extends LateRows("null-pad")

  val All: Seq[LateRows] = Seq(Drop, Fail, NullPad)
}

/** How many rows of a key a side of a join of streams stores, and what is done about more. */
final case class RowsOfKey(most: Int, atLimit: AtLimit)

/** What becomes of the rows of a key that are too many, and of rows that are too old. */
sealed abstract class AtLimit(val name: String)

object AtLimit {

  /** They end the query. */
  case object Fail extends AtLimit("fail")

  /** They leave, of a key those first whose reach ends first, and are counted. */
  case object Evict extends AtLimit("evict")

  val All: Seq[AtLimit] = Seq(Fail, Evict)
}

object PlaitConf {
  val Enabled = "spark.plait.enabled"
  val JoinStrategy = "spark.plait.join.strategy"
  val RadixJoin = "spark.plait.join.radix"
  val Index = "spark.plait.join.index"
  val Footers = "spark.plait.join.footers"
  val OnViolation = "spark.plait.order.violation"
  val Frontier = "spark.plait.stream.frontier"
  val Unbounded = "spark.plait.stream.unbounded-state"
  val Late = "spark.plait.stream.late"
  val MostOfKey = "spark.plait.stream.max-rows-per-key"
  val OnLimit = "spark.plait.stream.at-limit"
  val WholeStage = "spark.plait.join.whole-stage"
  val LogProbes = "spark.plait.join.log-probes"
  val TraceBuffered = "spark.plait.trace.buffered"
  val PlanningOnError = "spark.plait.planning.on-error"

  /** All of them. */
  val Keys: Seq[String] = Seq(
    Enabled,
    JoinStrategy,
    RadixJoin,
    Index,
    Footers,
    OnViolation,
    Frontier,
    Unbounded,
    Late,
    MostOfKey,
    OnLimit,
    WholeStage,
    LogProbes,
    TraceBuffered,
    PlanningOnError
  )

  /** What is to be said of a key that is none of them, but is written as if it were. */
  def unknown(key: String): Option[String] =
    Option.when(key.startsWith("spark.plait.") && !Keys.contains(key)) {
      s"There is no setting $key, and it does nothing.${Spelling.asked(key, Keys)} Plait's settings are " +
        s"${Keys.mkString(", ")}."
    }
}
