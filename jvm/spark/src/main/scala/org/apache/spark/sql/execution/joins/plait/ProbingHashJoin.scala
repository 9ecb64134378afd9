// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.execution.joins.plait

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.execution.joins.{
  EmptyHashedRelation,
  HashJoin,
  HashedRelation,
  HashedRelationInfo
}
import org.apache.spark.sql.execution.metric.SQLMetric

/** Spark's hash join, all its types with and without generated code, over a relation of another make, or
  * over Spark's own.
  *
  * It stands in this package because [[HashedRelationInfo]] does not show outside of it.
  */
trait ProbingHashJoin extends HashJoin {

  /** Gives a task its relation. */
  protected def probing: ProbingHashJoin.Probing

  override protected def prepareRelation(ctx: CodegenContext): HashedRelationInfo = {
    val source = ctx.addReferenceObj("probing", probing, classOf[ProbingHashJoin.Probing].getName)
    val own = probing.relationClass
    val relation = ctx.addMutableState(
      own,
      "relation",
      name => s"$name = ($own) $source.relation();",
      forceInline = true
    )
    HashedRelationInfo(relation, probing.keyIsUnique, probing.isEmpty)
  }

  /** Without generated code. */
  protected def interpreted(rows: SQLMetric): Iterator[InternalRow] => Iterator[InternalRow] = {
    val source = probing
    streamed => join(streamed, source.relation(), rows)
  }

  /** One row of the streamed side may give several, or one of what is below it. */
  override def needCopyResult: Boolean = !probing.keyIsUnique ||
    streamedPlan.asInstanceOf[CodegenSupport].needCopyResult
}

object ProbingHashJoin {
  trait Probing extends Serializable {
    def relation(): HashedRelation

    /** The name of the class of what [[relation]] gives. */
    def relationClass: String
    def keyIsUnique: Boolean = false
    def isEmpty: Boolean = false
  }

  /** The relation that was broadcast, by key alone. */
  class ByKey(broadcast: Broadcast[Any]) extends Probing {
    private def whole: HashedRelation = broadcast.value.asInstanceOf[HashedRelation]
    override def relationClass: String = whole.getClass.getName
    override def keyIsUnique: Boolean = whole.keyIsUnique
    override def isEmpty: Boolean = whole eq EmptyHashedRelation

    /** A task begins. */
    protected def begin(): Unit = ()

    override def relation(): HashedRelation = {
      begin()
      val own = whole.asReadOnlyCopy()
      TaskContext.get().taskMetrics().incPeakExecutionMemory(own.estimatedSize)
      own
    }
  }
}
