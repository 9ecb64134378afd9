// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.util.CollectionAccumulator

import plait.Side
import plait.join.{JoinCore, KeyGroup}
import plait.spark.side.SideReader

/** How many rows a task held after how many it had read, as the node samples it. */
final case class TracePoint(partition: Int, rowsRead: Long, left: Long, right: Long)

/** Samples the buffers every 1,000 rows read where a trace was asked for. */
sealed trait BufferTrace {
  def rowRead(core: JoinCore[SideReader, KeyGroup, UnsafeRow]): Unit
}

object BufferTrace {
  val Every = 1000L

  object Off extends BufferTrace {
    def rowRead(core: JoinCore[SideReader, KeyGroup, UnsafeRow]): Unit = ()
  }

  final class On(partition: Int, points: CollectionAccumulator[TracePoint]) extends BufferTrace {
    private var rows = 0L

    def rowRead(core: JoinCore[SideReader, KeyGroup, UnsafeRow]): Unit = {
      rows += 1
      if (rows % Every == 0)
        points.add(TracePoint(partition, rows, core.buffered(Side.Left), core.buffered(Side.Right)))
    }
  }
}
