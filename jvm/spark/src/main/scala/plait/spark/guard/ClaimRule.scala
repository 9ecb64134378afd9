// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{
  CreateTableLike,
  SetTableProperties,
  TableSpecBase,
  UnresolvedHint
}
import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType

import plait.spark.planner.{DeclaredOrder, VersionHint}

/** The SQL in the texts of Plait's table properties and hints. It is looked at where it is said: where it is used it
  * may be within a view, into which nobody looks, by a function that has been made anew since.
  *
  * {{{
  * ALTER TABLE t SET TBLPROPERTIES ('plait.ordered-by' = 'seq DESC')            an order
  * ALTER TABLE t SET TBLPROPERTIES ('plait.ordered-by' = "reflect('a', b)")     FUNCTION_NOT_ALLOWED
  * ORDERED(t, "reflect('a', b)") as a hint                                      FUNCTION_NOT_ALLOWED
  * }}}
  *
  *   1. A text is read in every way in which Plait reads one of its properties and hints, whatever it is of: what
  *      none of them reads is none.
  *   1. It is read as under each setting of the parser's that a client may have changed, for another session than
  *      the one that says it makes use of it.
  *
  * @param again
  *   looks at what a text says
  */
final private[guard] class ClaimRule(conf: => SQLConf, again: TreeNode[_] => Unit) extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case spec: TableSpecBase => checkAll(spec.properties)
    case like: CreateTableLike => checkAll(like.properties)
    case set: SetTableProperties => checkAll(set.properties)
    case hint: UnresolvedHint =>
      hint.parameters.foreach {
        case Literal(text, _: StringType) if text != null => checkText(text.toString)
        case _ =>
      }
    case _ =>
  }

  private def checkAll(properties: Map[String, String]): Unit = properties.foreach {
    case (key, text) if key.toLowerCase(Locale.ROOT).startsWith(ClaimRule.Prefix) => checkText(text)
    case _ =>
  }

  private def checkText(text: String): Unit = ClaimRule.readings(conf).foreach { reading =>
    SQLConf.withExistingConf(reading)(ClaimRule.said(text)).foreach(again)
  }
}

private[guard] object ClaimRule {
  private val Prefix = "plait."

  /** With reserved words there is less that can be read, and nothing else. */
  private def readings(conf: SQLConf): Seq[SQLConf] = Seq("false", "true").map { quoted =>
    val reading = conf.clone()
    reading.setConfString(SQLConf.ANSI_ENABLED.key, "true")
    reading.setConfString(SQLConf.ENFORCE_RESERVED_KEYWORDS.key, "false")
    reading.setConfString(SQLConf.DOUBLE_QUOTED_IDENTIFIERS.key, quoted)
    reading
  }

  private def said(text: String): Seq[Expression] =
    DeclaredOrder.orders(text).toSeq.flatten ++ VersionHint.expressions(text).toSeq.flatten ++
      VersionHint.expression(text)
}
