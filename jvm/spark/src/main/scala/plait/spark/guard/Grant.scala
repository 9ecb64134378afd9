// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

/** What kind of statements a client may send. Each scope opens queries; they are not steps of one ladder.
  *
  * {{{
  * Read      SELECT, EXPLAIN, SHOW, DESCRIBE, USE, and what lives in the client's own session
  * Stream    and queries over streams
  * Admin     and what changes the catalog, its rows or the cache
  * }}}
  */
sealed abstract class Scope(val name: String)

object Scope {
  case object Read extends Scope("read")
  case object Stream extends Scope("stream")
  case object Admin extends Scope("admin")

  val All: Seq[Scope] = Seq(Read, Stream, Admin)

  /** Those of these names; a name of none is left out. */
  def named(names: Seq[String]): Set[Scope] = All.filter(scope => names.contains(scope.name)).toSet
}

/** What one client may do.
  *
  * {{{
  * Grant(Set(Scope.Read), Seq("/data/open"), Seq("spark.sql.session.timeZone", "spark.plait.*"))
  * }}}
  *
  *   1. Without a scope nothing is admitted.
  *   1. A folder is an absolute path or URI, and opens all that lies in it, for the statements of every
  *      scope: for reading in all, for writing where the scope is Admin.
  *   1. A conf key opens itself, and one that ends in `.*` all keys that begin so, but for those that
  *      [[SettingRule]] keeps closed.
  */
final case class Grant(scopes: Set[Scope], folders: Seq[String], confKeys: Seq[String]) {
  def opens(scope: Scope): Boolean =
    scopes.contains(scope) || (scope == Scope.Read && scopes.nonEmpty)
}

object Grant {

  /** Settings that change what a client's own queries mean or cost, and nothing else of the server. */
  val HarmlessConfKeys: Seq[String] = AllowList.settings
}
