// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import scala.collection.mutable

import plait.interval.Possible

/** What a [[Solver]] did: every node of its graph, after every sweep.
  *
  * {{{
  * a > b - 3 AND a < b + 10     given           upward          downward
  * a                            [1, +inf)       [1, +inf)       (3, +inf)
  * b                            [6, +inf)       [6, +inf)       [6, +inf)
  * (b - 3)                      ...             [3, +inf)       [3, +inf)
  * }}}
  */
final class Trace private[constraint] (
    nodes: IndexedSeq[Term],
    arguments: IndexedSeq[Seq[Int]],
    root: Int
) extends Solver.Watcher {
  private val steps = mutable.ArrayBuffer.empty[(String, IndexedSeq[Possible])]

  override def note(what: String, state: Array[Possible]): Unit =
    steps += what -> state.toIndexedSeq

  /** A table: a line for each node, a column for each sweep. */
  def text: String = {
    val header = "" +: steps.map(_._1).toSeq
    val rows = nodes.indices.map(i => nodes(i).toString +: steps.map(_._2(i).toString).toSeq)
    val all = header +: rows
    val widths = header.indices.map(c => all.map(_(c).length).max)
    all
      .map(
        _.zip(widths)
          .map { case (cell, width) => cell.padTo(width, ' ') }
          .mkString("  ")
          .stripTrailing
      )
      .mkString("\n")
  }

  /** The graph as a Mermaid flowchart, each node with its values at first and at last. */
  def mermaid: String = {
    val boxes = nodes.indices.map { i =>
      val (first, last) = (steps.head._2(i), steps.last._2(i))
      val values = if (first == last) s"$last" else s"$first<br/>$last"
      s"""  n$i["${escaped(nodes(i).toString)}<br/>$values"]"""
    }
    val arrows = for (i <- nodes.indices; child <- arguments(i)) yield s"  n$child --> n$i"
    ("flowchart BT" +: boxes ++: arrows :+ s"  style n$root stroke-width:3px").mkString("\n")
  }

  private def escaped(text: String) =
    text.replace("&", "&amp;").replace("\"", "&quot;").replace("<", "&lt;").replace(">", "&gt;")

  override def toString: String = text
}
