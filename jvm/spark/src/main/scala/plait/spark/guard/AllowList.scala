// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import scala.io.{Codec, Source}
import scala.util.Using

/** The lists of what is allowed, as they stand in text files beside this class: one entry a line, lines
  * that begin with # are comments, `[read]` opens the part of a scope.
  */
private[guard] object AllowList {

  /** Classes of logical plans, and the scope that opens each. */
  val nodes: Map[String, Scope] = {
    val scopes = Scope.All.map(scope => s"[${scope.name}]" -> scope).toMap
    lines("nodes.txt")
      .foldLeft((Map.empty[String, Scope], Option.empty[Scope])) { case ((known, scope), line) =>
        if (line.startsWith("[")) (known, Some(scopes(line)))
        else (known + (line -> scope.get), scope)
      }
      ._1
  }

  val expressions: Set[String] = lines("expressions.txt").toSet

  /** Names of Spark's functions that are refused, and why. */
  val refusedFunctions: Map[String, String] =
    lines("functions.txt").map(_.split("\\s+", 2)).map(parts => parts(0) -> parts(1)).toMap

  /** In lower case. */
  val options: Set[String] = lines("options.txt").toSet

  val settings: Seq[String] = lines("settings.txt")

  private def lines(file: String): Seq[String] =
    Using.resource(Source.fromInputStream(getClass.getResourceAsStream(file))(Codec.UTF8)) {
      _.getLines().map(_.trim).filterNot(line => line.isEmpty || line.startsWith("#")).toVector
    }
}
