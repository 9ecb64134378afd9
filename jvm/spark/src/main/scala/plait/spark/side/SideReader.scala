// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSeq,
  BindReferences,
  CodeGeneratorWithInterpretedFallback,
  Expression,
  UnsafeProjection,
  UnsafeRow
}

/** Reads key, rank and reach off the rows of one side.
  *
  * {{{
  * reader.read(row)      (key 'JFK', s 100)
  * reader.key            'JFK'          reader.rank 100      reader.low 94      reader.high 95
  * }}}
  *
  * Conventions:
  *   1. A row *reaches* something if no key column is NULL and rank and both ends have values; else
  *      `key`, `keyValue`, `low` and `high` say nothing.
  *   2. `hasRank` is apart from that: such a row moves the frontier even if it matches nothing.
  *   3. Where a key is kept, its form says ([[RowKey]]).
  *   4. What it gives is valid until the next `read`.
  *   5. A rank that is known is not computed again ([[KnownRank]]); one that is `Unknown`, is.
  *   6. One of the key alone knows no rank: `hasRank` is false, and a row with a key reaches.
  *
  * Two ways to evaluate: [[GenerateSideReader]] compiles one class for all the expressions of a side;
  * [[InterpretedSideReader]] is for where Spark does not compile.
  */
abstract class SideReader extends RowKey {
  private var asUnsafe: AsUnsafe = _

  final var row: UnsafeRow = _
  final var rank: Long = 0
  final var low: Long = 0
  final var high: Long = 0
  final var hasRank: Boolean = false
  final var reaches: Boolean = false

  final protected var knownRank: Long = SideReader.Unknown

  final def read(source: InternalRow): Unit = read(source, SideReader.Unknown)

  /** @param known
    *   its rank, or `Unknown`
    */
  def read(source: InternalRow, known: Long): Unit

  /** Comes first in `read`. */
  final protected def take(source: InternalRow, known: Long): Unit = {
    val unsafe = asUnsafe(source)
    // Mostly one object for all rows; to write a reference costs a barrier of the collector's.
    if (row ne unsafe) row = unsafe
    knownRank = known
  }
}

/** What a [[SideReader]] evaluates.
  *
  * @param ranks
  *   rank, low, high, all of type long; or none, where the key alone is asked for
  */
final case class SideExpressionsToRead(key: KeyForm, ranks: Seq[Expression])

object SideReader extends CodeGeneratorWithInterpretedFallback[SideExpressionsToRead, SideReader] {

  /** In place of a rank; the rank of those that have none, too, so a row of the least rank has it computed again. */
  val Unknown: Long = Long.MinValue

  def create(keys: Seq[Expression], ranks: Seq[Expression], output: Seq[Attribute]): SideReader =
    create(KeyForm.of(keys), ranks, output)

  def create(key: KeyForm, ranks: Seq[Expression], output: Seq[Attribute]): SideReader = {
    def bound(expressions: Seq[Expression]) = BindReferences.bindReferences(expressions, output)
    val reader = createObject(SideExpressionsToRead(key.map(bound), bound(ranks)))
    reader.asUnsafe = new AsUnsafe(output)
    reader
  }

  override protected def createCodeGeneratedObject(in: SideExpressionsToRead): SideReader =
    GenerateSideReader.generate(in)

  override protected def createInterpretedObject(in: SideExpressionsToRead): SideReader =
    new InterpretedSideReader(in)
}

final private class InterpretedSideReader(in: SideExpressionsToRead) extends SideReader {
  private val keyOf = UnsafeProjection.create(in.key.expressions)
  private val ranksOf = UnsafeProjection.create(in.ranks)

  override def read(source: InternalRow, known: Long): Unit = {
    take(source, known)
    reaches = true
    if (in.ranks.nonEmpty) readRanks(ranksOf(row))
    if (reaches) {
      key = keyOf(row)
      reaches = !key.anyNull
      in.key match {
        case _: KeyForm.Whole => keyValue = key.getLong(0)
        case _: KeyForm.Text if reaches => keyIs(key.getUTF8String(0))
        case _ =>
      }
    }
  }

  private def readRanks(ranked: UnsafeRow): Unit = {
    hasRank = !ranked.isNullAt(0)
    rank = ranked.getLong(0)
    reaches = !ranked.anyNull
    if (reaches) {
      low = ranked.getLong(1)
      high = ranked.getLong(2)
    }
  }
}
