// SPDX-License-Identifier: Apache-2.0
package plait.spark

import java.lang.ref.WeakReference

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{
  SparkSession,
  SparkSessionExtensions,
  SparkSessionExtensionsProvider,
  classic
}

import plait.spark.planner._
import plait.spark.sql.PlaitParser

/** The map of everything that Plait hooks into Spark.
  *
  * {{{
  * hook                     what                          why there
  * parser                   PlaitParser                   statements with a clause of ours; all others go
  *                                                        to the parser that was there before
  * resolution               ResolveUsingMatch             Spark has resolved USING, names not yet
  * hint resolution          MarkNamedQueries              Spark has replaced the names of WITH
  * resolution               ResolveNamedQueries           before joins ask what the queries of WITH say
  * resolution               VersionTables                 tables are known, columns not yet bound
  * resolution               ResolveSystemTime             so that Spark gives the times one type
  * resolution               ResolveWindowedTable          the table of a window function is known
  * resolution               ResolveWindowTime             Spark has found no column of that name
  * after resolution         UnknownVersionColumns         what is not resolved by now is unknown
  * after resolution         MissingMatchCondition         the same
  * after resolution         MissingProctime               the same
  * after resolution         MatchOfEachRow                before Spark says that types cannot be compared
  * after resolution         ResolveAsOfJoin               names and types of its clause are known
  * after resolution         MistypedSlack                 what Spark would refuse names what nobody wrote
  * after resolution         MarkReadAnew                  queries in ON have become filters
  * plan normalization       ForgetClaims                  what hints said is used; nothing is cached yet
  * plan normalization       KeepIdleStreams               before the optimizer takes them out
  * plan normalization       ReadTablesAnew                once a micro-batch; nothing is found in the cache yet
  * optimizer                PushThroughAsOfJoin           beside Spark's own rules that push filters
  * optimizer                NarrowAsOfJoin                beside Spark's own for outer joins
  * optimizer                LimitBelowAsOfJoin            beside Spark's own for outer joins
  * optimizer                PruneTies                     before Spark's own rule that prunes columns
  * planner strategy         AsOfJoinStrategy              a node of ours
  * planner strategy         SymmetricHashJoinStrategy     joins as Spark's optimizer leaves them:
  *                                                        pushed down, reordered, keys normalised;
  *                                                        injected strategies come before Spark's
  * optimizer, before CBO    RangeSplit                    conditions are pushed down, sizes are known
  *                                                        but for those of partitioned tables, which it
  *                                                        prunes; before Spark orders joins by cost
  * optimizer, before CBO    SplitAsOfJoin                 the same
  * after resolution         StreamSubqueries              types and streams are known; Spark's check of
  *                                                        subqueries comes next
  * after resolution         CarryStreamJoins              as-of joins: what is resolved above one goes by its times
  * hint resolution          KeepCheckpoints               before Spark's check of what a stream may do
  * hint resolution          CarryAtStart                  before that check, and after KeepCheckpoints
  * plan normalization       CarryUnstarted                EXPLAIN starts no query
  * check of the analysis    StreamJoinCheck               a query starts, and the optimizer can be asked which joins
  *                                                        each micro-batch will have
  * optimizer, first         RestoreStreamJoins            so that all of Spark's rules see a join
  * optimizer, last          TakeStreamJoins               Spark's strategy for joins of streams comes
  *                                                        before all that are injected
  * planner strategy         StreamJoinStrategy            a node of ours
  * planner strategy         OrderedByStrategy             a node of ours
  * planner strategy         StreamClaimStrategy           a node of ours
  * planner strategy         IdleStreamStrategy            a node of ours
  * planner strategy         ExplainStrategy               Spark's nodes have no place for a reason
  * hint resolution          HintResolution                where Spark resolves its own join hints
  * resolution               OrderedTables                 tables are known, columns not yet bound
  * resolution               WatermarkedTables             tables are known, columns not yet bound
  * check of the analysis    OrderedByCheck                types are known, nothing is optimized yet
  * check of the analysis    AsOfJoinCheck                 it is known what is a stream
  * check of the analysis    WindowJoinCheck               shapes of windows are still known
  * check of the analysis    SettingsCheck                 once a query, where the session's are at hand
  * check of the analysis    UnusedClauseCheck             what no join has taken up by now, none will
  * optimizer                CachedTables                  what is cached is known
  * optimizer                PushThroughClaim              beside Spark's own rules that push filters
  * stage preparation        SkewedPartitions              the sizes of finished shuffles are known,
  *                                                        and Spark's rule of skewed joins has run
  * before transitions       SharedCuts                    subqueries are planned, and Spark looks for equal
  *                                                        ones next
  * after transitions        CodegenBoundaries             a join's inputs are as they will run, and Spark
  *                                                        makes stages of generated code next
  * after the planner        RepartitionAbove              the last that sees a user's repartition,
  *                                                        which Spark may take out next
  * }}}
  *
  * It registers itself by META-INF/services once the jar is on the class path, and by
  * `spark.sql.extensions=plait.spark.PlaitExtensions`. Both at once do no harm: a join that one
  * instance of the strategy has planned, the other never sees. It touches no other extension's hooks, so
  * it works before and after any.
  */
class PlaitExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectParser((session, before) => new PlaitParser(before, confOf(session)))
    extensions.injectHintResolutionRule(_ => HintResolution)
    extensions.injectHintResolutionRule(new KeepCheckpoints(_))
    extensions.injectHintResolutionRule(_ => CarryAtStart)
    extensions.injectResolutionRule(_ => ResolveUsingMatch)
    extensions.injectHintResolutionRule(_ => MarkNamedQueries)
    extensions.injectResolutionRule(_ => ResolveNamedQueries)
    extensions.injectResolutionRule(_ => VersionTables)
    extensions.injectResolutionRule(_ => ResolveSystemTime)
    extensions.injectResolutionRule(new ResolveWindowedTable(_))
    extensions.injectResolutionRule(_ => ResolveWindowTime)
    extensions.injectPostHocResolutionRule(_ => UnknownVersionColumns)
    extensions.injectPostHocResolutionRule(_ => MissingMatchCondition)
    extensions.injectPostHocResolutionRule(_ => MissingProctime)
    extensions.injectPostHocResolutionRule(_ => MatchOfEachRow)
    extensions.injectPostHocResolutionRule(_ => ResolveAsOfJoin)
    extensions.injectPostHocResolutionRule(_ => MistypedSlack)
    extensions.injectPostHocResolutionRule(_ => MarkReadAnew)
    extensions.injectPostHocResolutionRule(_ => StreamSubqueries)
    extensions.injectPostHocResolutionRule(_ => CarryStreamJoins)
    extensions.injectCheckRule(new StreamJoinCheck(_))
    extensions.injectPreOperatorOptimizationRule(_ => RestoreStreamJoins)
    extensions.injectOptimizerRule(LastOptimization.add(TakeStreamJoins))
    extensions.injectPlannerStrategy(_ => StreamJoinStrategy)
    extensions.injectPlanNormalizationRule(_ => CarryUnstarted)
    extensions.injectPlanNormalizationRule(_ => ForgetClaims)
    extensions.injectPlanNormalizationRule(_ => KeepIdleStreams)
    extensions.injectPlanNormalizationRule(new ReadTablesAnew(_))
    extensions.injectPreCBORule(_ => RangeSplit)
    extensions.injectPreCBORule(_ => SplitAsOfJoin)
    extensions.injectResolutionRule(_ => OrderedTables)
    extensions.injectResolutionRule(_ => WatermarkedTables)
    extensions.injectCheckRule(_ => OrderedByCheck)
    extensions.injectCheckRule(_ => AsOfJoinCheck)
    extensions.injectCheckRule(_ => WindowJoinCheck)
    extensions.injectCheckRule(_ => SettingsCheck)
    extensions.injectCheckRule(_ => UnusedClauseCheck)
    extensions.injectOptimizerRule(_ => CachedTables)
    extensions.injectOptimizerRule(_ => PushThroughClaim)
    extensions.injectOptimizerRule(_ => PushThroughAsOfJoin)
    extensions.injectOptimizerRule(_ => NarrowAsOfJoin)
    extensions.injectOptimizerRule(_ => LimitBelowAsOfJoin)
    extensions.injectOptimizerRule(_ => PruneTies)
    extensions.injectPlannerStrategy(_ => SymmetricHashJoinStrategy)
    extensions.injectPlannerStrategy(_ => OrderedByStrategy)
    extensions.injectPlannerStrategy(_ => StreamClaimStrategy)
    extensions.injectPlannerStrategy(_ => IdleStreamStrategy)
    extensions.injectPlannerStrategy(_ => AsOfJoinStrategy)
    extensions.injectPlannerStrategy(_ => ExplainStrategy)
    extensions.injectQueryPostPlannerStrategyRule(_ => RepartitionAbove)
    extensions.injectQueryStagePrepRule(_ => SkewedPartitions)
    extensions.injectColumnar(_ => SharedCuts)
    extensions.injectColumnar(_ => CodegenBoundaries)
  }

  /** A parser may outlive its session in threads of Spark's, and does not keep it. */
  private def confOf(session: SparkSession): () => SQLConf = {
    val own = new WeakReference(session)
    () =>
      own.get match {
        case open: classic.SparkSession => open.sessionState.conf
        case _ => SQLConf.get
      }
  }
}
