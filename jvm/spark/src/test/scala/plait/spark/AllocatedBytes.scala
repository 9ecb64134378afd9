// SPDX-License-Identifier: Apache-2.0
package plait.spark

import java.lang.management.ManagementFactory

/** The bytes of all objects that the running thread has made so far. */
object AllocatedBytes {
  private val threads =
    ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  def now: Long = threads.getThreadAllocatedBytes(Thread.currentThread.getId)
}
