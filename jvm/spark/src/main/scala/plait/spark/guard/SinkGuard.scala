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
  * files in a folder of a stream that nobody has noted             Admin, if it may be this one
  * a table that is not there                                   Stream: as by CREATE STREAMING TABLE
  * a table that is there, or in another catalog                Admin, as for INSERT
  * }}}
  */
final class SinkGuard(session: SparkSession, grant: Grant) {
  private val nowhere = new Origin()
  private val sources = new SourceRule(
    new Folders(grant.folders, session.sessionState.newHadoopConf()),
    grant
  )

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
    if (holdsOtherFiles(new Path(path)))
      NodeRule.need(
        Scope.Admin,
        s"To write into the folder $path, which has files that no stream has written and that it would hide,",
        grant,
        nowhere
      )
  }

  private def holdsOtherFiles(folder: Path): Boolean = {
    val files = folder.getFileSystem(session.sessionState.newHadoopConf())
    files.exists(folder) && !files.exists(new Path(folder, FileStreamSink.metadataDir)) &&
    files.listStatus(folder).exists(found => !isHidden(found.getPath.getName))
  }

  private def isHidden(name: String): Boolean = name.startsWith("_") || name.startsWith(".")

  /** Of a folder whose stream nobody has noted. */
  def checkUnknown(path: String): Unit =
    NodeRule.need(
      Scope.Admin,
      s"To write into the folder $path, which has the rows of a stream that this server does not know,",
      grant,
      nowhere
    )

  /** Are these files of Spark's, which a stream writes by batches that it counts? */
  def isOfFiles(format: String): Boolean = SourceRule.isFormat(format)

  def checkCheckpoint(path: String): Unit = sources.checkPath(path, nowhere)

  /** Of a table that is there, or in a catalog of the operator's. */
  def checkTable(name: String): Unit =
    NodeRule.need(
      Scope.Admin,
      s"To write into the table $name, which is there already or in another catalog,",
      grant,
      nowhere
    )
}
