// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SessionState
import org.apache.spark.sql.types.StructType

/** The state of a streaming operator. It lives in Spark's package because the coordinator of state stores,
  * by which a task is sent to where its state is, is visible only there, and so is the id of a store.
  */
object StreamingState {
  def sessionState(plan: SparkPlan): SessionState = plan.session.sessionState

  def coordinator(plan: SparkPlan): StateStoreCoordinatorRef =
    plan.session.sessionState.streamingQueryManager.stateStoreCoordinator

  /** The store of a partition as the batch before left it. */
  def open(
      info: StatefulOperatorStateInfo,
      partition: Int,
      keySchema: StructType,
      valueSchema: StructType,
      conf: StateStoreConf,
      hadoopConf: Configuration
  ): StateStore = StateStore.get(
    StateStoreProviderId(info, partition, StateStoreId.DEFAULT_STORE_NAME),
    keySchema,
    valueSchema,
    NoPrefixKeyStateEncoderSpec(keySchema),
    info.storeVersion,
    info.getStateStoreCkptId(partition).map(_.head),
    info.stateSchemaMetadata,
    useColumnFamilies = false,
    conf,
    hadoopConf
  )

  /** What Spark has written down of the values in the store. */
  def storedSchema(info: StatefulOperatorStateInfo, hadoopConf: Configuration): StructType = {
    val provider = StateStoreProviderId(info, 0, StateStoreId.DEFAULT_STORE_NAME)
    new StateSchemaCompatibilityChecker(provider, hadoopConf).readSchemaFile().head.valueSchema
  }
}
