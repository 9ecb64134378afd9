// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.execution.joins.plait

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.execution.joins.{HashJoin, HashedRelation, HashedRelationInfo}
import org.apache.spark.sql.execution.metric.SQLMetric

/** Spark's hash join, all its types with and without generated code, over a relation of another make.
  *
  * It stands in this package because [[HashedRelationInfo]] does not show outside of it.
  */
trait ProbingHashJoin extends HashJoin {

  /** Gives a task its relation. */
  protected def probing: ProbingHashJoin.Probing

  override protected def prepareRelation(ctx: CodegenContext): HashedRelationInfo = {
    val source = ctx.addReferenceObj("probing", probing, classOf[ProbingHashJoin.Probing].getName)
    val relation = ctx.addMutableState(
      classOf[HashedRelation].getName,
      "relation",
      name => s"$name = $source.relation();",
      forceInline = true
    )
    HashedRelationInfo(relation, keyIsUnique = false, isEmpty = false)
  }

  /** Without generated code. */
  protected def interpreted(rows: SQLMetric): Iterator[InternalRow] => Iterator[InternalRow] = {
    val source = probing
    streamed => join(streamed, source.relation(), rows)
  }

  /** One row of the streamed side may give several. */
  override def needCopyResult: Boolean = true
}

object ProbingHashJoin {
  trait Probing extends Serializable {
    def relation(): HashedRelation
  }
}
