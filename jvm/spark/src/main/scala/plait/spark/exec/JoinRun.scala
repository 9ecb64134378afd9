// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.TaskContext
import org.apache.spark.memory.TaskMemoryManager
import org.apache.spark.sql.plait.TaskMemory

import plait.spark.side._
import plait.{BySide, Side}

/** What a join has in its task, whichever way it goes: memory, what is done at its end, and the sorts of the sides that do not
  * come in their order.
  */
final private[exec] class JoinRun(val spec: JoinSpec) {
  val context: TaskContext = TaskContext.get()

  /** Of the way that is under way: one may come after the other. */
  val ending: JoinEnding = JoinEnding.of(context)
  val memory: TaskMemoryManager = TaskMemory.of(context)
  val index = new TaskIndexMemory(memory)
  val reading = new ReadingThread
  val sorts: BySide[Option[RankSort]] = spec.sides.map { side =>
    Option.when(side.isSortedHere)(
      new RankSort(side.ranks.head, side.output, spec.metrics, reading)
    )
  }
  lazy val accepts: PairTest =
    PairTest.stoppable(spec.condition, spec.sides.map(_.output), context)

  /** Of keys that come in one: both sides have the same. */
  lazy val keyOrder: KeyOrder = KeyOrder.of(spec.keyForm(Side.Left)).get

  /** No more rows will be asked for of those that were sorted or stored. */
  def release(): Unit = {
    for (side <- Side.both) sorts(side).foreach(_.release())
    index.clear()
  }
}
