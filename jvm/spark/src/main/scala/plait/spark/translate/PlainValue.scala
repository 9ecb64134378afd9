// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import java.time.{Instant, LocalDateTime, ZoneId, ZoneOffset}

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}
import org.apache.spark.sql.types._

import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval._

/** Sets of values as JSON, for the Python package.
  *
  * {{{
  * {"spans": [[{"number": "1/3"}, false, null, true]], "null": false, "nan": true}
  *                                      [1/3, +inf) or NaN
  *
  * number       "7", "1/3", "inf"       numbers and truth values
  * days         "19000"                 dates
  * micros       "60000000"              day-time intervals, instants
  * local        "60000000"              what a clock on the wall shows, with "fold" where it is set back
  * text         "abc"
  * }}}
  *
  * Conventions:
  *   1. An end at the end of its type says nothing and is null; of a truth value it says much.
  *   2. An instant comes with the local time of the zone and its offset in seconds.
  *
  *   3. Of a type that has no order nothing is known, and nothing can be given.
  *
  * @param dataType
  *   none for real numbers
  */
final class PlainValue(dataType: Option[DataType], zone: ZoneId) {
  import PlainValue._

  val domain: Domain = dataType.flatMap(OrderedType.domain).getOrElse(Domain.Real)

  /** Convention 3. */
  private val unordered: Option[DataType] = dataType.filter(OrderedType.domain(_).isEmpty)

  private val kinds: Set[String] = dataType match {
    case Some(DateType) => Set("days")
    case Some(TimestampType) => Set("instant", "local")
    case Some(TimestampNTZType) => Set("local")
    case Some(_: DayTimeIntervalType) => Set("micros")
    case Some(BooleanType) => Set("boolean")
    case Some(StringType) => Set("text")
    case _ => Set("number")
  }

  def read(name: String, possible: JsonNode): Possible = {
    unordered.foreach { t =>
      throw new ConditionError(s"$name is of the type ${t.sql}, of which Plait knows no order.")
    }
    val spans = elements(possible.get("spans")).map { span =>
      val Seq(lower, isLowerOpen, upper, isUpperOpen) = elements(span).take(4): @unchecked
      IntervalSet.span(
        end(name, lower, isLowerOpen.asBoolean),
        end(name, upper, isUpperOpen.asBoolean)
      )
    }
    val specials =
      (if (possible.get("null").asBoolean) Specials.Null else Specials.None) |
        (if (possible.get("nan").asBoolean && domain.hasNaN) Specials.NaN else Specials.None)
    Possible(spans.foldLeft(IntervalSet.Empty)(_ union _), specials)
  }

  private def end(name: String, value: JsonNode, isOpen: Boolean): Bound[Rational] =
    if (value.isNull) Unbounded
    else {
      val at = number(name, value)
      if (isOpen) Open(at) else Closed(at)
    }

  private def number(name: String, value: JsonNode): Rational = {
    val kind = value.fieldNames.next()
    val text = value.get(kind).asText
    if (!kinds(kind))
      throw new ConditionError(
        s"$name is of the type ${dataType.fold("of real numbers")(_.sql)}, and ${written(kind, text)} is no value of it."
      )
    kind match {
      case "text" => Domain.Text.number(text.getBytes(java.nio.charset.StandardCharsets.UTF_8))
      case "local" if dataType.contains(TimestampType) =>
        Rational(instant(BigInt(text).toLong, value.get("fold").asInt))
      case _ => rational(text)
    }
  }

  private def rational(text: String): Rational = text match {
    case "inf" | "-inf" =>
      val infinity = domain match {
        case floating: Domain.Floating => floating.infinity
        case _ =>
          throw new ConditionError(s"Only a float or a double is infinite, not ${domain.name}.")
      }
      if (text == "inf") infinity else -infinity
    case _ =>
      val parts = text.split('/')
      if (parts.length == 1) Rational(BigInt(parts(0)))
      else Rational(BigInt(parts(0)), BigInt(parts(1)))
  }

  private def written(kind: String, text: String) = if (kind == "text") s"'$text'" else text

  /** The second of two, where the fold is 1; in a gap the offset before it. */
  private def instant(localMicros: Long, fold: Int): Long = {
    val local = LocalDateTime.ofEpochSecond(Math.floorDiv(localMicros, million), 0, ZoneOffset.UTC)
    val offsets = zone.getRules.getValidOffsets(local)
    val offset =
      if (offsets.size == 2) offsets.get(fold) else zone.getRules.getOffset(local)
    localMicros - offset.getTotalSeconds * million
  }

  def write(possible: Possible): ObjectNode = {
    val spans = json.arrayNode()
    possible.values.spans.foreach { span =>
      val one = spans.addArray()
      ends(span.lower, domain.everything.lower).foreach(one.add)
      ends(span.upper, domain.everything.upper).foreach(one.add)
    }
    val found = json.objectNode()
    found.set[ObjectNode]("spans", spans)
    found.put("null", possible.mayBeNull).put("nan", possible.mayBeNaN)
  }

  private def ends(bound: Bound[Rational], last: Bound[Rational]): Seq[JsonNode] = bound match {
    case same if same == last && domain != Domain.Boolean =>
      Seq(json.nullNode, json.booleanNode(true))
    case Unbounded => Seq(json.nullNode, json.booleanNode(true))
    case Closed(x) => Seq(value(x), json.booleanNode(false))
    case Open(x) => Seq(value(x), json.booleanNode(true))
  }

  private def value(x: Rational): JsonNode = {
    val found = json.objectNode()
    dataType match {
      case Some(TimestampType) =>
        val micros = x.numerator.toLong
        val at = Instant.ofEpochSecond(Math.floorDiv(micros, million))
        val offset = zone.getRules.getOffset(at)
        val both = zone.getRules.getValidOffsets(LocalDateTime.ofInstant(at, offset))
        val fold = if (both.size == 2 && both.get(1) == offset) 1 else 0
        found
          .put("instant", micros.toString)
          .put("local", (x.numerator + offset.getTotalSeconds * million).toString)
          .put("offset", offset.getTotalSeconds)
          .put("fold", fold)
      case Some(TimestampNTZType) => found.put("local", x.toString).put("fold", 0)
      case Some(StringType) => text(x).fold[JsonNode](json.nullNode)(found.put("text", _))
      case Some(_: DecimalType) => found.put("decimal", x.toString)
      case Some(FloatType | DoubleType) => found.put("float", floating(x))
      case _ => found.put(kinds.head, x.toString)
    }
  }

  private def floating(x: Rational): String = domain match {
    case floating: Domain.Floating => floating.exactly(x).toString
    case _ => x.toString
  }
}

object PlainValue {
  private val million = 1000000L
  private val json = JsonNodeFactory.instance
  private val base = Rational(257)

  def elements(node: JsonNode): Seq[JsonNode] = (0 until node.size).map(node.get)

  /** The text that a number of [[Domain.Text]] is; none for a number that is none. */
  private def text(x: Rational): Option[String] = {
    val digits = Iterator.iterate((x * base, 0)) { case (rest, n) =>
      ((rest - Rational(rest.floor)) * base, n + 1)
    }
    val found = digits.take(10000).map(_._1).takeWhile(_.signum != 0).map(_.floor.toInt).toSeq
    val bytes = found.map(digit => (digit - 1).toByte).toArray
    if (!found.contains(0) && Domain.Text.number(bytes) == x)
      Some(new String(bytes, java.nio.charset.StandardCharsets.UTF_8))
    else None
  }
}
