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
    val rows =
      nodes.indices.map(i => label(i) +: steps.map(step => shown(i, step._2(i))).toSeq)
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

  /** The graph as a Mermaid flowchart, each node with its values after each sweep: those that a
    * sweep left as they were stand together, `given to upward 1: [6, +inf)`.
    */
  def mermaid: String = {
    val boxes = nodes.indices.map { i =>
      val values = runs(i).map(run => escaped(s"$run")).mkString("<br/>")
      s"""  n$i["${escaped(label(i))}<br/>$values"]"""
    }
    val arrows = for (i <- nodes.indices; child <- arguments(i)) yield s"  n$child --> n$i"
    ("flowchart BT" +: boxes ++: arrows :+ s"  style n$root stroke-width:3px").mkString("\n")
  }

  /** The values of a node, each with the first and the last sweep after which it had that value. */
  private def runs(node: Int): Seq[Trace.Run] =
    steps.toSeq.zip(numbered).foldLeft(Vector.empty[Trace.Run]) {
      case (done :+ last, ((_, state), name)) if last.value == shown(node, state(node)) =>
        done :+ last.copy(to = name)
      case (done, ((_, state), name)) => done :+ Trace.Run(name, name, shown(node, state(node)))
    }

  /** `given, upward 1, downward 1, upward 2, ...` */
  private def numbered: Seq[String] = steps.toSeq.zipWithIndex.map {
    case (("given", _), _) => "given"
    case ((what, _), i) => s"$what ${steps.take(i + 1).count(_._1 == what)}"
  }

  private def label(node: Int): String = {
    val text = nodes(node).toString
    if (text.length <= Trace.LongestLabel) text else s"${text.take(Trace.LongestLabel - 1)}…"
  }

  private def shown(node: Int, possible: Possible) = Shown(possible, nodes(node).domain)

  private def escaped(text: String) =
    text.replace("&", "&amp;").replace("\"", "&quot;").replace("<", "&lt;").replace(">", "&gt;")

  override def toString: String = text
}

object Trace {

  final private case class Run(from: String, to: String, value: String) {
    override def toString: String = if (from == to) s"$from: $value" else s"$from to $to: $value"
  }

  /** Every line of the table is as long as its longest label. */
  private val LongestLabel = 120
}
