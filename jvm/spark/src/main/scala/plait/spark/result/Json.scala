// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import com.fasterxml.jackson.core.{JsonFactoryBuilder, StreamReadConstraints}
import com.fasterxml.jackson.databind.ObjectMapper

/** How the endpoint reads and writes JSON between Python and the JVM, and in its own files.
  *
  * A request has come as a gRPC message, whose length the server bounds (`request_bytes`), and what is made of it -
  * an error that quotes the statement, a table that is written down with its parameters - may be as long again. So
  * texts and names have no bounds of their own here: a second, lower one would be an error of the server's where the
  * client has kept to the limits.
  */
private[spark] object Json {
  val mapper: ObjectMapper = new ObjectMapper(
    new JsonFactoryBuilder()
      .streamReadConstraints(
        StreamReadConstraints
          .builder()
          .maxStringLength(Int.MaxValue)
          .maxNameLength(Int.MaxValue)
          .build()
      )
      .build()
  )
}
