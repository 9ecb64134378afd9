// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{
  HadoopFsRelation,
  InMemoryFileIndex,
  LogicalRelation
}

import plait.spark.plan.Claim
import plait.spark.translate.FilesSeen

/** What the footers of the files say of a column: it lies between two ends, or it is NULL.
  *
  * @param least
  *   a value of the column's type, if it is known
  * @param greatest
  *   of a floating column none, for NaN is above all and in no footer
  */
final case class FooterFact(column: Attribute, least: Option[Literal], greatest: Option[Literal]) {

  /** As comparisons. */
  def ends: Seq[Expression] =
    least.map(GreaterThanOrEqual(column, _)).toSeq ++ greatest.map(LessThanOrEqual(column, _))

  /** What holds of every row. */
  def holding: Expression = {
    val inside = ends.reduce(And(_, _))
    if (column.nullable) Or(IsNull(column), inside) else inside
  }

  override def toString: String =
    s"$column in ${least.fold("(-inf")("[" + _)}, ${greatest.fold("+inf)")(s => s"$s]")}"
}

/** What is surely known of the columns of one side of a join by the footers of the very files that it is read
  * from. A filter between the files and the join leaves rows out, and what is known stays true.
  *
  * {{{
  * SELECT id, shipped AS at FROM shipments WHERE id > 7     two files, shipped in [3, 9] and in [5, 20]
  *                                                          at >= 3 AND at <= 20
  * }}}
  *
  *   1. Footers are of Parquet files that Spark reads by its own reader and by a list that it made once.
  *   1. More than `most` files of a relation are too many to open for a plan.
  *   1. A column is followed through projections, filters, sorts, joins, limits and groups; what a UNION
  *      gives under one name comes from several places, and nothing is known of it.
  *   1. What cannot be read is not known, and no error.
  *
  * @param files
  *   those whose footers were read, so that it can be seen whether they still are what they were
  */
final case class FooterFacts(facts: Seq[FooterFact], files: Seq[FilesSeen])

object FooterFacts {
  val None: FooterFacts = FooterFacts(Nil, Nil)

  /** @param wanted
    *   of these columns
    * @param most
    *   so many files of a relation, at most, are opened
    */
  def of(side: LogicalPlan, wanted: AttributeSet, most: Int): FooterFacts = {
    val columns = side.output.filter(wanted.contains)
    val origins = if (most > 0 && columns.nonEmpty) originsOf(side) else Map.empty[ExprId, Column]
    val found = columns.flatMap(c => origins.get(c.exprId).map(c -> _))
    val read = found
      .map(_._2.relation)
      .distinct
      .flatMap { relation =>
        ParquetFooters.of(relation, most).map(relation -> _)
      }
      .toMap
    val facts = for {
      (column, origin) <- found
      footers <- read.get(origin.relation)
      fact <- fact(column, footers, origin.name)
    } yield fact -> footers.seen
    FooterFacts(facts.map(_._1), facts.map(_._2).distinct)
  }

  private def fact(column: Attribute, footers: ParquetFooters, name: String): Option[FooterFact] =
    footers.range(name, column.dataType).flatMap { range =>
      def end(value: Option[Any]) = value.map(Literal(_, column.dataType))
      val fact = FooterFact(column, end(range.least), end(range.greatest))
      Option.when(fact.ends.nonEmpty)(fact)
    }

  /** A column of files. */
  final private case class Column(relation: HadoopFsRelation, name: String)

  private def originsOf(plan: LogicalPlan): Map[ExprId, Column] = plan match {
    case relation: LogicalRelation => columnsOf(relation)
    case LogicalQueryStage(logical, _) => originsOf(logical)
    case Project(list, child) => through(list, originsOf(child))
    case Aggregate(_, list, child, _) => through(list, originsOf(child))
    case _: Filter | _: Sort | _: GlobalLimit | _: LocalLimit | _: RepartitionOperation |
        _: ResolvedHint | _: Claim | _: Window | _: Sample | _: Join =>
      plan.children.map(originsOf).reduce(_ ++ _)
    case _ => Map.empty
  }

  private def through(list: Seq[NamedExpression], below: Map[ExprId, Column]) = list.flatMap {
    case column: Attribute => below.get(column.exprId).map(column.exprId -> _)
    case named @ Alias(column: Attribute, _) => below.get(column.exprId).map(named.exprId -> _)
    case _ => Nil
  }.toMap

  private def columnsOf(relation: LogicalRelation): Map[ExprId, Column] = relation.relation match {
    case files: HadoopFsRelation if isParquet(files) && !relation.isStreaming =>
      def small(name: String) = name.toLowerCase(Locale.ROOT)
      val partitions = files.partitionSchema.map(field => small(field.name)).toSet
      val written = files.dataSchema.map(_.name).filterNot(n => partitions(small(n))).toSet
      relation.output.filter(c => written(c.name)).map(c => c.exprId -> Column(files, c.name)).toMap
    case _ => Map.empty
  }

  private def isParquet(files: HadoopFsRelation): Boolean =
    files.fileFormat.getClass == classOf[ParquetFileFormat] &&
      files.location.getClass == classOf[InMemoryFileIndex]
}
