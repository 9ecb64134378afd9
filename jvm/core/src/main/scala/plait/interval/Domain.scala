// SPDX-License-Identifier: Apache-2.0
package plait.interval

/** The values a term may take: all integers from `least` to `greatest`, both in.
  *
  * Dates are days since 1970-01-01, timestamps and day-time intervals microseconds, as Spark stores
  * them; so `DATE'1970-01-03'` is 2 and `INTERVAL '1' SECOND` is 1000000.
  */
final case class Domain(name: String, least: BigInt, greatest: BigInt) {
  def interval: Interval[BigInt] = Interval.closed(least, greatest)
  override def toString: String = name
}

object Domain {
  val Byte: Domain = bits("byte", 8)
  val Short: Domain = bits("short", 16)
  val Int: Domain = bits("int", 32)
  val Long: Domain = bits("long", 64)
  val Date: Domain = bits("date", 32)
  val Timestamp: Domain = bits("timestamp", 64)
  val TimestampNtz: Domain = bits("timestamp_ntz", 64)
  val DayTimeInterval: Domain = bits("day-time interval", 64)

  private def bits(name: String, width: Int): Domain =
    Domain(name, -(BigInt(1) << (width - 1)), (BigInt(1) << (width - 1)) - 1)
}
