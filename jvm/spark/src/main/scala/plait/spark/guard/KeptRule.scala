// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.plans.logical.{AlterViewAs, CacheTableAsSelect, CreateView}
import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}
import org.apache.spark.sql.execution.command.CreateViewCommand

/** What views keep of a query: its text, whose names Spark looks up anew at each use. A temporary one
  * counts too, for a global one may stand on it, into which nobody looks.
  *
  * {{{
  * CREATE VIEW v AS SELECT * FROM sales.t       the table of that name, or none
  * CREATE VIEW v AS SELECT * FROM text.t        the table of that name; when it has gone, the file t where the server runs
  * }}}
  *
  * @param kept
  *   looks at the names in what is kept
  */
final private[guard] class KeptRule(kept: TreeNode[_] => Unit) extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case view: CreateView => kept(view.query)
    case view: CreateViewCommand => kept(view.plan)
    case view: AlterViewAs => kept(view.query)
    case cache: CacheTableAsSelect => kept(cache.plan)
    case _ =>
  }
}

/** Of a query that is kept, the names of relations: see [[RelationRule.checkKept]]. */
final private[guard] class KeptNameRule(relations: RelationRule) extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case relation: UnresolvedRelation => relations.checkKept(relation.multipartIdentifier, at)
    case _ =>
  }
}
