// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.io.File
import java.lang.reflect.Modifier

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, TableFunctionRegistry}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.SQLConf

/** Laws of the lists: each of Spark's functions is decided, and what is listed exists. */
class AllowListSuite extends GuardSuite {
  private val registries = Seq(FunctionRegistry.builtin, TableFunctionRegistry.builtin)

  private val functions: Map[String, String] = registries.flatMap { registry =>
    registry.listFunction().map { case id: FunctionIdentifier =>
      id.funcName -> registry.lookupFunction(id).get.getClassName
    }
  }.toMap

  private def isListed(function: String): Boolean = FunctionRule.isListed(functions(function))

  test("each function of Spark is either allowed or refused with a reason") {
    val undecided = functions.keys.filterNot(isListed).toSet -- AllowList.refusedFunctions.keys
    assertEquals(undecided, Set.empty[String])
  }

  test("no function is both, and every one that is refused is Spark's") {
    assertEquals(AllowList.refusedFunctions.keys.filter(isListed).toSet, Set.empty[String])
    assert(AllowList.refusedFunctions.keySet.subsetOf(functions.keySet))
  }

  test("every listed class is a class of Spark's or Plait's") {
    val loader = getClass.getClassLoader
    val missing = (AllowList.nodes.keySet ++ AllowList.expressions)
      .filter(name => scala.util.Try(Class.forName(name, false, loader)).isFailure)
    assertEquals(missing, Set.empty[String])
  }

  test("plans are listed as plans, expressions as expressions or makers of them") {
    val loader = getClass.getClassLoader
    def are(names: Iterable[String], kind: Class[_]): Iterable[String] =
      names.filterNot(name => kind.isAssignableFrom(Class.forName(name, false, loader)))
    val notPlans = are(AllowList.nodes.keys, classOf[LogicalPlan])
    val notExpressions = are(AllowList.expressions, classOf[Expression])
    assertEquals(notPlans.toSeq, Nil)
    assertEquals(notExpressions.filterNot(_.endsWith("Builder")).toSeq, Nil)
  }

  test("every plan and clause that Plait's parser and analysis make is listed") {
    val folder = new File(classOf[plait.spark.plan.AsOfJoin].getResource("AsOfJoin.class").toURI)
    val ours = folder.getParentFile
      .list()
      .toSeq
      .map(file => Class.forName("plait.spark.plan." + file.stripSuffix(".class")))
      .filterNot(c => Modifier.isAbstract(c.getModifiers))
    val plans = ours.filter(classOf[LogicalPlan].isAssignableFrom).map(_.getName).toSet
    val clauses = ours.filter(classOf[Expression].isAssignableFrom).map(_.getName).toSet
    assert(plans.nonEmpty && clauses.nonEmpty)
    assertEquals(plans -- AllowList.nodes.keySet, Set.empty[String])
    assertEquals(clauses -- AllowList.expressions, Set.empty[String])
  }

  test(
    "every harmless setting is one that a session may change, and names no class, file or source"
  ) {
    run("SELECT 1") // registers Spark's settings
    val (ours, ofSpark) = Grant.HarmlessConfKeys.partition(_.startsWith("spark.plait."))
    assertEquals(ofSpark.filterNot(SQLConf.get.isModifiable), Nil)
    assert(ours.nonEmpty)
  }

  test("options are in lower case, as they are compared") {
    assertEquals(AllowList.options.filter(o => o != o.toLowerCase), Set.empty[String])
  }
}
