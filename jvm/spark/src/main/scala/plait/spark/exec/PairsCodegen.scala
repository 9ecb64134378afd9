// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.joins.JoinCodegenSupport
import org.apache.spark.sql.execution.{
  CodegenSupport,
  InputAdapter,
  SparkPlan,
  WholeStageCodegenExec
}
import org.apache.spark.sql.types.BooleanType

import plait.spark.side.{JoinOutput, JoinedPairs}
import plait.{BySide, Side}

/** A join whose pairs are taken up by the code that Spark generates for what stands above it: columns are
  * read off the two rows, and no row is made of them.
  *
  * {{{
  * while (pairs.advance()) {                                     no longer than a LIMIT above wants
  *   UnsafeRow left = pairs.left(), right = pairs.right();      null where a row comes out alone
  *   ... what stands above, with the columns that it asks for
  *   if (shouldStop()) return;
  * }
  * }}}
  *
  * Where nothing stands above, one row is made of both as without generated code.
  *
  * Its inputs come as rows. So it stays out of generated code where an input would have been part of such:
  * that one would lose more.
  */
trait PairsCodegen extends PlaitJoinExec with JoinCodegenSupport {

  /** What is done in each task. */
  protected def pairsOfTask: JoinedPairs.OfTask

  override def supportCodegen: Boolean = !Side.both.exists(side => isGenerated(input(side)))

  private def isGenerated(child: SparkPlan): Boolean = child match {
    case _: InputAdapter => false
    case other: CodegenSupport => other.supportCodegen
    case _ => false
  }

  /** The code stops after each row that it hands on. */
  override def needCopyResult: Boolean = false

  /** Its loop ends with the LIMIT, which its inputs as rows do not ask about. */
  override protected def canCheckLimitNotReached: Boolean = true

  override def inputRDDs(): Seq[RDD[InternalRow]] = Seq(left.execute(), right.execute())

  override protected def doExecute(): RDD[InternalRow] = {
    val task = pairsOfTask
    val outputs = BySide(left.output, right.output)
    val kind = joinType
    left.execute().zipPartitions(right.execute()) { (leftRows, rightRows) =>
      task.join(BySide(leftRows, rightRows)).rows(JoinOutput.of(kind, outputs))
    }
  }

  override protected def doProduce(ctx: CodegenContext): String = {
    val task = ctx.addReferenceObj("task", pairsOfTask, classOf[JoinedPairs.OfTask].getName)
    val pairs = ctx.addMutableState(
      classOf[JoinedPairs].getName,
      "pairs",
      name => s"$name = $task.join(inputs[0], inputs[1]);",
      forceInline = true
    )
    val rows = BySide(ctx.freshName("left"), ctx.freshName("right"))
    val row = classOf[UnsafeRow].getName
    s"""while ($limitNotReachedCond $pairs.advance()) {
       |  $row ${rows.left} = $pairs.left();
       |  $row ${rows.right} = $pairs.right();
       |  ${consume(ctx, columns(ctx, pairs, rows), whole(ctx, pairs))}
       |  if (shouldStop()) return;
       |}""".stripMargin
  }

  private def columns(ctx: CodegenContext, pairs: String, rows: BySide[String]): Seq[ExprCode] = {
    def of(side: Side) =
      genOneSideJoinVars(ctx, rows(side), input(side), setDefaultValue = mayBeMissing(side))
    joinType match {
      case LeftSemi | LeftAnti => of(Side.Left)
      case _: ExistenceJoin =>
        val exists = JavaCode.expression(s"$pairs.isPair()", BooleanType)
        of(Side.Left) :+ ExprCode.forNonNullValue(exists)
      case _ => of(Side.Left) ++ of(Side.Right)
    }
  }

  private def mayBeMissing(side: Side): Boolean = joinType match {
    case FullOuter => true
    case LeftOuter => side eq Side.Right
    case RightOuter => side eq Side.Left
    case _ => false
  }

  /** One row of both, where that is all that is asked for; null elsewhere, so that none is made. */
  private def whole(ctx: CodegenContext, pairs: String): String = parent match {
    case _: WholeStageCodegenExec =>
      val outputs = BySide(left.output, right.output)
      val joined = ctx.addReferenceObj("output", new PairsCodegen.Outputs(joinType, outputs))
      val output = ctx.addMutableState(
        classOf[JoinOutput].getName,
        "joinOutput",
        name => s"$name = $joined.make();",
        forceInline = true
      )
      s"((${classOf[UnsafeRow].getName}) $pairs.row($output))"
    case _ => null
  }
}

object PairsCodegen {

  /** Goes to the tasks, and makes the rows of one. */
  final class Outputs(joinType: JoinType, outputs: BySide[Seq[Attribute]]) extends Serializable {
    def make(): JoinOutput = JoinOutput.of(joinType, outputs)
  }
}
