// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.joins.JoinCodegenSupport
import org.apache.spark.sql.execution.{
  CodegenSupport,
  InputAdapter,
  SparkPlan,
  WholeStageCodegenExec
}
import org.apache.spark.sql.types.BooleanType

import plait.spark.PlaitConf
import plait.spark.side.{GeneratedClass, JoinOutput, JoinedPairs}
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
  * Its inputs come as rows. One that is generated code itself is kept apart by a [[CodegenBoundaryExec]]; where
  * none was put in, the join stays out of generated code, since that input would lose more.
  * `spark.plait.join.whole-stage` settles it.
  */
trait PairsCodegen extends PlaitJoinExec with JoinCodegenSupport {

  /** What each task gives, by [[asRows]]. */
  protected def joined(): RDD[InternalRow]

  /** Of the pairs of a task its rows, which code that is generated asks for the pairs. */
  final protected def asRows: JoinedPairs => Iterator[InternalRow] = {
    val outputs = BySide(left.output, right.output)
    val kind = joinType
    new JoinedPairs.Rows(_, () => JoinOutput.of(kind, outputs))
  }

  /** Do its pairs go to the code of what stands above, if the inputs allow it? */
  final def givesPairs: Boolean = PlaitConf(conf).wholeStage && PairsCodegen.fits(this)

  override def supportCodegen: Boolean =
    givesPairs && !Side.both.exists(side => PairsCodegen.isGenerated(input(side)))

  /** The code stops after each row that it hands on. */
  override def needCopyResult: Boolean = false

  /** Its loop ends with the LIMIT, which its inputs as rows do not ask about. */
  override protected def canCheckLimitNotReached: Boolean = true

  /** One, for what stands above, such as a UNION, may take no more. */
  override def inputRDDs(): Seq[RDD[InternalRow]] = Seq(joined())

  override protected def doExecute(): RDD[InternalRow] = joined()

  override protected def doProduce(ctx: CodegenContext): String = {
    // Spark begins the names of variables with the node's, which may be "...(skew=true)".
    ctx.freshNamePrefix = PairsCodegen.Prefix
    val input = ctx.addMutableState(
      "scala.collection.Iterator",
      "input",
      name => s"$name = inputs[0];",
      forceInline = true
    )
    val found = classOf[JoinedPairs.Rows].getName
    val from = ctx.addMutableState(found, "joined", forceInline = true)
    val pairs = ctx.addMutableState(classOf[JoinedPairs].getName, "pairs", forceInline = true)
    val rows = BySide(ctx.freshName("left"), ctx.freshName("right"))
    val row = classOf[UnsafeRow].getName
    // Not before rows are asked for: below a UNION the input may be another's.
    s"""if ($pairs == null) {
       |  $from = ($found) $input;
       |  $pairs = $from.pairs();
       |}
       |while ($limitNotReachedCond $pairs.advance()) {
       |  $row ${rows.left} = $pairs.left();
       |  $row ${rows.right} = $pairs.right();
       |  ${consume(ctx, columns(ctx, pairs, rows), whole(from))}
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
  private def whole(from: String): String = parent match {
    case _: WholeStageCodegenExec => s"((${classOf[UnsafeRow].getName}) $from.row())"
    case _ => null
  }
}

object PairsCodegen {
  private val Prefix = "plaitjoin"

  /** Would this be part of the code of the node above it, if that node asked for it? */
  def isGenerated(child: SparkPlan): Boolean = child match {
    case _: InputAdapter => false
    case other: CodegenSupport => other.supportCodegen && fits(other)
    case _ => false
  }

  /** Spark makes no code of what has an expression without code (a reach that is solved is one), or too
    * many columns.
    */
  private def fits(plan: SparkPlan): Boolean =
    !plan.expressions.exists(_.exists(GeneratedClass.hasNoCode)) &&
      !(plan +: plan.children).exists(node =>
        WholeStageCodegenExec.isTooManyFields(plan.conf, node.schema)
      )
}
