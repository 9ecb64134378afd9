// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression, Unevaluable}
import org.apache.spark.sql.execution.datasources.FileIndex
import org.apache.spark.sql.types.DataType

/** A file as it was when its footer was read: one that is written anew has another length or another
  * time, and what its footer said is no longer known.
  */
final case class FileSeen(path: String, length: Long, modified: Long)

object FileSeen {

  /** As it is now, whatever a list of files made earlier says; an error if there is none. */
  def now(path: Path, hadoop: Configuration): FileSeen =
    of(path.getFileSystem(hadoop).getFileStatus(path))

  /** As a list of files says. */
  def of(status: FileStatus): FileSeen =
    FileSeen(status.getPath.toString, status.getLen, status.getModificationTime)
}

/** The files that a relation would read when the query was planned, by the list that finds them.
  *
  * @param options
  *   of the relation, with which its files are opened
  */
final case class FilesSeen(
    location: FileIndex,
    files: Set[FileSeen],
    options: Map[String, String]
)

/** An end of a reach, narrower while the files of some relations are what they were when the query was planned.
  *
  * {{{
  * orders of one file, whose footer says t in [100, 200]        narrow   least(t + 5, 200)
  *                                                              wide     t + 5
  * }}}
  *
  * It is never computed: which of the two it is the join decides before it starts. That keeps no join out of
  * generated code, as an expression that can only be interpreted would.
  *
  * @param relations
  *   known to the driver alone: generated code takes the plan around it along to the tasks
  */
final case class WhileFilesStand(
    narrow: Expression,
    wide: Expression,
    @transient relations: Seq[FilesSeen]
) extends BinaryExpression
    with Unevaluable {
  override def left: Expression = narrow
  override def right: Expression = wide
  override def dataType: DataType = wide.dataType
  override def nullable: Boolean = narrow.nullable || wide.nullable
  override def toString: String = wide.toString

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): WhileFilesStand = copy(narrow = newLeft, wide = newRight)
}

object WhileFilesStand {

  /** What is the same either way does not depend on the files. */
  def of(narrow: Expression, wide: Expression, relations: Seq[FilesSeen]): Expression =
    if (narrow == wide) wide else WhileFilesStand(narrow, wide, relations)
}
