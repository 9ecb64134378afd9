// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.BySide

/** What becomes of the rows of one side. A join type is a pair of roles:
  *
  * {{{
  *                  left         right
  * INNER            Paired       Paired
  * LEFT OUTER       Preserved    Paired           RIGHT OUTER is its mirror
  * FULL OUTER       Preserved    Preserved
  * LEFT SEMI        Existing     Sought
  * LEFT ANTI        Missing      Sought
  * existence        Marked       Sought           l.x IN (...) OR ...
  * }}}
  *
  * @param leaves
  *   whether a row comes out that has not matched, once nothing that is to come can match it
  * @param matches
  *   what its first match does to a row
  */
sealed abstract class Role(val leaves: Leaving, val matches: Matching)

/** Does a row come out that never matched? */
sealed trait Leaving
object Leaving {
  case object Silently extends Leaving
  case object Aloud extends Leaving
}

/** What the first match of a row does to it. */
sealed trait Matching
object Matching {

  /** It stays, to match again. */
  case object Stays extends Matching

  /** All is known of it: it is dropped, or not stored at all. */
  case object Settles extends Matching
}

object Role {

  /** Is a match a row of the result? Not where a row comes out for having none. */
  def givesMatches(roles: BySide[Role]): Boolean =
    !roles.left.eq(Missing) && !roles.right.eq(Missing)

  /** Comes out in pairs. */
  case object Paired extends Role(Leaving.Silently, Matching.Stays)

  /** Comes out in pairs, and alone if it has none. */
  case object Preserved extends Role(Leaving.Aloud, Matching.Stays)

  /** Comes out at its first match. */
  case object Existing extends Role(Leaving.Silently, Matching.Settles)

  /** Comes out if it has no match. */
  case object Missing extends Role(Leaving.Aloud, Matching.Settles)

  /** Comes out once, with the answer whether it has a match. */
  case object Marked extends Role(Leaving.Aloud, Matching.Settles)

  /** Never comes out. */
  case object Sought extends Role(Leaving.Silently, Matching.Stays)
}
