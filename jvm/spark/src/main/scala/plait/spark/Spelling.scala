// SPDX-License-Identifier: Apache-2.0
package plait.spark

import java.util.Locale

import org.apache.spark.unsafe.types.UTF8String

/** What somebody may have meant who wrote a word that is not known:
  *
  * {{{
  * TOLERENCE of TOLERANCE, TIES            TOLERANCE: one letter of nine is another
  * LIMIT of TOLERANCE, TIES                none
  * }}}
  *
  * No more than a third of the letters may differ, and case does not count.
  */
object Spelling {
  def nearest(word: String, known: Seq[String]): Option[String] =
    known
      .map(k => k -> distance(word, k))
      .filter { case (k, letters) => letters * 3 <= k.length }
      .minByOption { case (_, letters) => letters }
      .map { case (k, _) => k }

  /** The sentence that asks for it, or nothing. */
  def asked(word: String, known: Seq[String]): String =
    nearest(word, known).map(k => s" Did you mean $k?").mkString

  private def distance(a: String, b: String): Int =
    UTF8String
      .fromString(a.toUpperCase(Locale.ROOT))
      .levenshteinDistance(UTF8String.fromString(b.toUpperCase(Locale.ROOT)))
}
