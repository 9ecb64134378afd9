// SPDX-License-Identifier: Apache-2.0
package plait.spark

import java.util
import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.read.{LocalScan, Scan, ScanBuilder}
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A catalog of tables that take MERGE, UPDATE and DELETE, which those in Spark's wheel do not. Its tables
  * lie in memory, and each change writes all rows of one anew.
  */
final class RewrittenTables extends TableCatalog {
  private val tables = new ConcurrentHashMap[Identifier, RewrittenTable]
  private var catalog: String = _

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = catalog = name
  override def name: String = catalog
  override def listTables(namespace: Array[String]): Array[Identifier] =
    tables.keySet.asScala.toArray
  override def loadTable(table: Identifier): Table =
    Option(tables.get(table)).getOrElse(throw new NoSuchTableException(table))
  override def createTable(table: Identifier, info: TableInfo): Table = {
    val made = new RewrittenTable(table.name, info.columns)
    tables.put(table, made)
    made
  }
  override def alterTable(table: Identifier, changes: TableChange*): Table =
    throw new UnsupportedOperationException("ALTER TABLE")
  override def dropTable(table: Identifier): Boolean = tables.remove(table) != null
  override def renameTable(from: Identifier, to: Identifier): Unit =
    throw new UnsupportedOperationException("RENAME TABLE")
}

final class RewrittenTable(override val name: String, override val columns: Array[Column])
    extends Table
    with SupportsRead
    with SupportsWrite
    with SupportsRowLevelOperations {
  @volatile private var rows = Seq.empty[InternalRow]

  override def capabilities: util.Set[TableCapability] =
    util.EnumSet.of(TableCapability.BATCH_READ, TableCapability.BATCH_WRITE)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () => scan
  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = writing(rows ++ _)
  override def newRowLevelOperationBuilder(info: RowLevelOperationInfo): RowLevelOperationBuilder =
    () =>
      new RowLevelOperation {
        override def command: RowLevelOperation.Command = info.command
        override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () => scan
        override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = writing(identity)
      }

  private def scan: Scan = new LocalScan {
    override def readSchema: StructType =
      StructType(columns.map(c => StructField(c.name, c.dataType, c.nullable)))
    override def rows: Array[InternalRow] = RewrittenTable.this.rows.toArray
  }

  /** @param after
    *   the rows of the table after these were written
    */
  private def writing(after: Seq[InternalRow] => Seq[InternalRow]): WriteBuilder =
    new WriteBuilder {
      override def build: Write = new Write {
        override def toBatch: BatchWrite = new BatchWrite {
          override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
            (_, _) => new WrittenRows
          override def abort(messages: Array[WriterCommitMessage]): Unit = ()
          override def commit(messages: Array[WriterCommitMessage]): Unit =
            rows = after(messages.toSeq.collect { case Written(rows) => rows }.flatten)
        }
      }
    }
}

final private case class Written(rows: Seq[InternalRow]) extends WriterCommitMessage

final private class WrittenRows extends DataWriter[InternalRow] {
  private val rows = ArrayBuffer.empty[InternalRow]
  override def write(row: InternalRow): Unit = rows += row.copy()
  override def commit(): WriterCommitMessage = Written(rows.toSeq)
  override def abort(): Unit = ()
  override def close(): Unit = ()
}
