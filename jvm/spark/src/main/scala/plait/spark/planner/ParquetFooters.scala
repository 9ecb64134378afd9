// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import java.io.InterruptedIOException
import java.nio.channels.ClosedByInterruptException
import java.util.Locale

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ParquetMetadata}
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.schema.PrimitiveType
import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.parquet.ParquetFooterReader
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, InMemoryFileIndex}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.plait.InParallel
import org.apache.spark.sql.types.DataType

import plait.spark.RecentlyUsed
import plait.spark.translate.{FileSeen, FilesSeen}

/** What the footers of the files of a relation say together.
  *
  * {{{
  * a.parquet   t in [3, 9]          b.parquet   t in [5, 20]       range("t", INT)     [3, 20]
  *             x unknown                        x in [1, 2]        range("x", INT)     none
  * }}}
  */
final class ParquetFooters private (val seen: FilesSeen, files: Seq[ParquetFooters.OfFile]) {

  /** The least and the greatest value of a column, of those that are known; None, where a file does not say. */
  def range(column: String, dataType: DataType): Option[FooterRange] = {
    val name = column.toLowerCase(Locale.ROOT)
    val each = files.map(_.get(name).map(_.as(dataType)))
    if (each.isEmpty || each.exists(_.isEmpty)) None
    else FooterRange.union(each.flatten)
  }
}

object ParquetFooters extends Logging {

  /** The columns of a file by their names in small letters, those without a doubt. */
  private type OfFile = Map[String, FooterColumn]

  /** None, if there are more files, or one cannot be read. */
  def of(relation: HadoopFsRelation, most: Int): Option[ParquetFooters] = relation.location match {
    case list: InMemoryFileIndex if !SQLConf.get.parquetFieldIdReadEnabled =>
      val files = list.allFiles()
      if (files.isEmpty || files.size > most) None
      else
        try Some(read(relation, list, files))
        catch {
          case e @ (_: InterruptedIOException | _: ClosedByInterruptException) => throw e
          case NonFatal(e) =>
            logDebug(s"The footers of ${list.rootPaths.mkString(", ")} are not known: $e")
            None
        }
    case _ => None
  }

  /** So many at once. */
  private val Threads = 8

  /** Of a file only what it says as Spark has listed it. One that was written anew since may not be the one that is
    * read: the rows of a stage that has run are those of the file before. Whether the files still are so is asked before
    * the join starts.
    */
  private def read(relation: HadoopFsRelation, list: InMemoryFileIndex, files: Seq[FileStatus]) = {
    val (kept, unknown) = files.partitionMap { file =>
      val listed = FileSeen.of(file)
      Kept.get(listed).map(listed -> _).toLeft(listed -> file.getPath)
    }
    val all = kept ++ openedAll(unknown, relation.options)
    new ParquetFooters(FilesSeen(list, all.map(_._1).toSet, relation.options), all.map(_._2))
  }

  /** A configuration is large, and made only for what must be opened. */
  private def openedAll(
      files: Seq[(FileSeen, Path)],
      options: Map[String, String]
  ): Seq[(FileSeen, OfFile)] =
    if (files.isEmpty) Nil
    else {
      val hadoop = SparkSession.active.sessionState.newHadoopConfWithOptions(options)
      InParallel.each(files, "plait-footers", Threads) { case (listed, path) =>
        val columns = if (mayChangeUnseen(listed)) None else opened(path, hadoop, listed)
        columns.foreach(Kept.put(listed, _))
        (listed, columns.getOrElse(Map.empty))
      }
    }

  /** Where times are whole seconds, a file that was just written may be written anew at the same time. */
  private def mayChangeUnseen(seen: FileSeen): Boolean =
    seen.modified % 1000 == 0 && System.currentTimeMillis - seen.modified < 2000

  /** None, if what was opened may not be what was listed. */
  private def opened(path: Path, hadoop: Configuration, listed: FileSeen): Option[OfFile] = {
    val file = HadoopInputFile.fromPath(path, hadoop)
    val footer = ParquetFooterReader.readFooter(file, ParquetMetadataConverter.NO_FILTER)
    Option.when(FileSeen.now(path, hadoop) == listed)(columnsOf(footer))
  }

  private def columnsOf(footer: ParquetMetadata): OfFile = {
    val schema = footer.getFileMetaData.getSchema
    val sharing = schema.getFields.asScala.groupBy(_.getName.toLowerCase(Locale.ROOT))
    val chunks = footer.getBlocks.asScala.toSeq.filter(_.getRowCount > 0).flatMap { group =>
      group.getColumns.asScala.filter(_.getPath.size == 1)
    }
    chunks.groupBy(_.getPath.toArray.head).flatMap { case (name, parts) =>
      val small = name.toLowerCase(Locale.ROOT)
      schema.getFields.get(schema.getFieldIndex(name)) match {
        case kind: PrimitiveType if sharing(small).size == 1 && !isRepeated(kind) =>
          union(kind, parts).map(small -> _)
        case _ => None
      }
    }
  }

  private def isRepeated(kind: PrimitiveType) =
    kind.isRepetition(org.apache.parquet.schema.Type.Repetition.REPEATED)

  private def union(kind: PrimitiveType, parts: Seq[ColumnChunkMetaData]): Option[FooterColumn] = {
    val each = parts.map(part => FooterColumn.of(kind, part))
    if (each.exists(_.isEmpty)) None else each.flatten.reduceOption(_ union _)
  }

  /** The columns of the files that were read last, for some seconds: a query is planned several times, by adaptive
    * execution after each of its stages.
    */
  private object Kept {
    private val Nanoseconds = 10000000000L
    private val files = new RecentlyUsed[FileSeen, (Long, OfFile)](most = 200)

    def get(file: FileSeen): Option[OfFile] =
      files.get(file).collect {
        case (since, columns) if System.nanoTime - since < Nanoseconds => columns
      }

    def put(file: FileSeen, columns: OfFile): Unit = files.put(file, (System.nanoTime, columns))
  }
}
