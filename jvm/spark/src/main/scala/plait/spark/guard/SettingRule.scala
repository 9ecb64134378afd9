// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.execution.command.{ResetCommand, SetCommand}
import org.apache.spark.sql.internal.SQLConf

/** SET and RESET of the keys that the grant names, for reading as for writing.
  *
  * {{{
  * SET spark.sql.session.timeZone = UTC       if the grant has the key, or spark.sql.session.*
  * SET spark.hadoop.fs.s3a.secret.key         no
  * SET                                        no: it lists all
  * }}}
  *
  *   1. Spark's static settings and those that are none of Spark's SQL are never allowed, but for
  *      `spark.plait.`.
  *   1. A key that names a class, a folder, a catalog or a data source is allowed only if the grant names it
  *      in full, not by a prefix.
  *   1. `spark.sql.variable.substitute` is never allowed: with it, `${env:HOME}` in a text is a variable of the
  *      server's environment. [[StatementGuard]] turns it off.
  */
final private[guard] class SettingRule(grant: Grant) extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case SetCommand(Some((key, _))) if key != "-v" => checkKey(key, at)
    case SetCommand(_) => refuseAll("SET without a key shows every setting of the server", at)
    case ResetCommand(Some(key)) => checkKey(key, at)
    case ResetCommand(None) => refuseAll("RESET without a key undoes the server's own settings", at)
    case _ =>
  }

  private def checkKey(key: String, at: Origin): Unit =
    if (!isOpen(key))
      refuse(
        StatementRefused.Conf,
        s"The setting $key is not allowed. A client may set, show and reset ${shown(grant.confKeys)}.",
        at
      )

  private def isOpen(key: String): Boolean = {
    val isOurs = key.startsWith("spark.plait.")
    val isOfSql = SQLConf.get.isModifiable(key) && key != SettingRule.Substitution
    val isNamed = grant.confKeys.contains(key)
    (isOurs || isOfSql) && (isNamed || (!SettingRule.isClosed(key) && isInPrefix(key)))
  }

  private def isInPrefix(key: String): Boolean =
    grant.confKeys.filter(_.endsWith(".*")).exists(p => key.startsWith(p.dropRight(1)))

  private def refuseAll(what: String, at: Origin): Nothing =
    refuse(StatementRefused.Conf, s"$what. A client may name ${shown(grant.confKeys)}.", at)

  private def shown(keys: Seq[String]): String =
    if (keys.isEmpty) "none"
    else if (!Grant.HarmlessConfKeys.forall(keys.contains)) keys.mkString(", ")
    else {
      val more = keys.diff(Grant.HarmlessConfKeys)
      val here = if (more.isEmpty) "" else more.mkString("; and of this server ", ", ", "")
      "what docs/endpoint.md lists under Settings, as spark.sql.session.timeZone and spark.sql.shuffle.partitions" + here
    }
}

private[guard] object SettingRule {
  val Substitution = "spark.sql.variable.substitute"

  /** Not by a prefix. */
  def isClosed(key: String): Boolean = {
    val words = key.toLowerCase(java.util.Locale.ROOT)
    Closed.exists(words.contains)
  }

  private val Closed = Seq(
    "class",
    "catalog",
    "codec",
    "committer",
    "dir",
    "extension",
    "location",
    "path",
    "plugin",
    "provider",
    "redaction",
    "secret",
    "sources.default",
    "token",
    "jars",
    "excludedrules",
    "runsqlonfiles",
    "legacy"
  )
}
