// SPDX-License-Identifier: Apache-2.0
// Laws: what the solver says of random expressions, against Spark's own evaluation of them.
package plait.spark

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.internal.SQLConf

import plait.Cases

/** The laws of [[AgainstSpark]] of expressions of every kind, over four columns. */
class ConditionLaws extends munit.FunSuite {
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  for (family <- RandomExpressions.families; zone <- family.zones)
    test(s"${family.name} in $zone") {
      SQLConf.get.setConfString(SQLConf.SESSION_LOCAL_TIMEZONE.key, zone)
      try {
        val random = new Random(Cases.seed + zone.hashCode)
        val expressions = new RandomExpressions(random, new RandomValues(random), zone)
        val laws = new AgainstSpark(random)
        val held = Seq
          .fill(RandomExpressions.count) {
            val columns = Seq
              .fill(4)(family.types(random.nextInt(family.types.size)))
              .zipWithIndex
              .map { case (t, i) => AttributeReference("abst".substring(i, i + 1), t)() }
            laws.check(expressions.condition(family, columns), columns)
          }
          .sum
        val evaluated = RandomExpressions.count * 40
        assert(held > evaluated * 3 / 4, s"only $held of $evaluated evaluations had a value")
        val satisfied = laws.satisfied
        assert(satisfied > evaluated / 10, s"only $satisfied of $evaluated made a condition TRUE")
      } finally SQLConf.get.unsetConf(SQLConf.SESSION_LOCAL_TIMEZONE)
    }
}
