// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.sinks.FileStreamSink

/** What a stream of a remote client may write to, judged as statements are: formats and options from the lists,
  * paths in the folders of the grant, and the scope Stream for all of it.
  *
  * {{{
  * parquet in /data/open/out, checkpoint in /data/open/c       if the grant has /data/open and Stream
  * files in a folder that has files which no stream has written    Admin: a stream would hide them
  * files or a checkpoint at, in or around a table                  Admin, as for INSERT
  * files or a checkpoint new among files, or as a partition        Admin: who reads those would read them (see [[FolderUse]])
  * a checkpoint in a folder that has something else                Admin
  * files in a folder of a stream that nobody has noted             Admin, if it may be this one
  * a table that is not there                                   Stream: as by CREATE STREAMING TABLE
  * a table that is there, or in another catalog                Admin, as for INSERT
  * }}}
  */
final class SinkGuard(session: SparkSession, grant: Grant) {
  private val nowhere = new Origin()
  private lazy val hadoop = session.sessionState.newHadoopConf()
  private val folders = new Folders(grant.folders, hadoop)
  private val sources = new SourceRule(folders, grant)
  private val uses = new FolderUse(session, folders, hadoop)

  def checkScope(): Unit = NodeRule.need(Scope.Stream, "A stream", grant, nowhere)

  def checkFiles(format: String, path: String, options: Map[String, String]): Unit = {
    sources.checkFormat(Some(format), nowhere)
    sources.checkPath(path, nowhere)
    if (options.keys.exists(OptionRule.isPath))
      throw new StatementRefused(
        StatementRefused.Option,
        "The folder of a stream's files is its path, and not an option.",
        nowhere
      )
    OptionRule.checkAll(options, nowhere)
    leave(path)(uses.byTables(path))
    if (!uses.has(new Path(path), FileStreamSink.metadataDir)) {
      leave(path) {
        Option.when(uses.hasData(new Path(path))) {
          "which has files that no stream has written and that it would hide"
        }
      }
      leave(path)(uses.byNeighbours(path))
    }
  }

  /** To those who may write anywhere, if there is a reason. */
  private def leave(path: String)(reason: => Option[String]): Unit =
    if (!grant.opens(Scope.Admin)) reason.foreach { why =>
      NodeRule.need(
        Scope.Admin,
        s"To write into the folder $path, $why, instead of a new one,",
        grant,
        nowhere
      )
    }

  /** Of a folder whose stream nobody has noted. */
  def checkUnknown(path: String): Unit =
    leave(path)(Some("which has the rows of a stream that this server does not know"))

  /** Are these files of Spark's, which a stream writes by batches that it counts? */
  def isOfFiles(format: String): Boolean = SourceRule.isFormat(format)

  def checkCheckpoint(path: String): Unit = {
    sources.checkPath(path, nowhere)
    leave(path)(uses.byTables(path))
    if (!uses.has(new Path(path), "metadata", "offsets")) {
      leave(path) {
        Option.when(!uses.isEmpty(new Path(path)))(
          "which has something, and no checkpoint of a stream"
        )
      }
      leave(path)(uses.byNeighbours(path))
    }
  }

  /** Of a table that is there, or in a catalog of the operator's. */
  def checkTable(name: String): Unit =
    NodeRule.need(
      Scope.Admin,
      s"To write into the table $name, which is there already or in another catalog,",
      grant,
      nowhere
    )
}
