// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.util.{ArrayDeque, IdentityHashMap}

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.View
import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}
import org.apache.spark.sql.types.DataType

/** Everything that a plan holds, each thing once: its nodes and expressions, the plans inside expressions
  * and commands, and what stands in their arguments, in sequences, maps, options, arrays and tuples.
  *
  * {{{
  * INSERT INTO t SELECT (SELECT max(x) FROM u)      InsertIntoStatement, t, Project, Alias,
  *                                                  ScalarSubquery, Aggregate, u, ...
  * }}}
  *
  *   1. Before a view of the catalog or a global one the walk ends: the view is walked to, its body is not. The
  *      body is what an admin or the server's operator has made, as the place of a table is.
  *   1. The body of a session's own temporary view is walked.
  *   1. Values of literals, data types, and what the catalog says of a table are left out.
  *   1. Code (functions of UDFs) is not looked into.
  */
private[guard] object PlanWalk {

  /** @param visit
    *   is given a value, and where the innermost node around it stands in the statement
    */
  def foreach(root: TreeNode[_])(visit: (Any, Origin) => Unit): Unit = {
    val seen = new IdentityHashMap[AnyRef, AnyRef]
    val waiting = new ArrayDeque[(Any, Origin)]
    waiting.push((root, root.origin))
    // Whatever is held by what has been visited has been visited or waits.
    while (!waiting.isEmpty) {
      val (value, outer) = waiting.pop()
      if (!isSeen(value, seen)) {
        val here = originOf(value, outer)
        if (isVisited(value)) visit(value, here)
        parts(value).foreach(part => waiting.push((part, here)))
      }
    }
  }

  private def isSeen(value: Any, seen: IdentityHashMap[AnyRef, AnyRef]): Boolean = value match {
    case thing: AnyRef => seen.put(thing, thing) != null
    case _ => true // null
  }

  private def originOf(value: Any, outer: Origin): Origin = value match {
    case node: TreeNode[_] if node.origin.line.isDefined || node.origin.startIndex.isDefined =>
      node.origin
    case _ => outer
  }

  private def isVisited(value: Any): Boolean = value match {
    case _: Iterable[_] | _: Option[_] | _: Array[_] => false
    case _: TreeNode[_] | _: Product => true
    case _ => false
  }

  private def parts(value: Any): Iterator[Any] = value match {
    case _: Literal | _: DataType | _: CatalogTable => Iterator.empty
    case view: View if isOfCatalog(view) => Iterator.empty
    case node: TreeNode[_] => node.productIterator ++ node.children ++ node.innerChildren
    case map: Map[_, _] => map.keysIterator ++ map.valuesIterator
    case items: Iterable[_] => items.iterator
    case items: Array[AnyRef] => items.iterator
    case product: Product if isKnown(product) => product.productIterator
    case ours: AnyRef if ours.getClass.getName.startsWith("plait.") => fields(ours)
    case _ => Iterator.empty
  }

  /** Plait's parser carries some expressions where Spark sees none, in classes without arguments. */
  private def fields(carrier: AnyRef): Iterator[Any] =
    carrier.getClass.getDeclaredFields.iterator.map { field =>
      field.setAccessible(true)
      field.get(carrier)
    }

  private def isOfCatalog(view: View): Boolean =
    !view.isTempView || view.desc.identifier.database.isDefined

  private def isKnown(product: Product): Boolean = {
    val name = product.getClass.getName
    Packages.exists(name.startsWith) && !name.startsWith(Encoders)
  }

  private val Packages = Seq("org.apache.spark.sql.", "plait.", "scala.")

  /** How a function of the server reads its arguments: no expression of the statement's. */
  private val Encoders = "org.apache.spark.sql.catalyst.encoders."
}
