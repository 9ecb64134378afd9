// SPDX-License-Identifier: Apache-2.0
package plait.join

/** Where a row comes out, if it does: of a join that is cut into ranges, each row has one range that is
  * its home, and is known to others too as far as it decides there.
  *
  * {{{
  * l.ts >= r.ts, cut at 10:00        right 09:58        left 10:02
  *   range 1 knows right 09:58 from elsewhere, so that left 10:02 can pick it
  *   range 0 knows left 10:02 from elsewhere, so that right 09:58 does not come out alone
  * }}}
  */
sealed trait Home
object Home {
  case object Here extends Home

  /** It picks and is picked like any other, and comes out in silence. */
  case object Elsewhere extends Home
}
