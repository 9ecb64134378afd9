// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

/** Something in a node where Spark sees no expression and no plan: it looks up no names in it yet. */
final class Carried[+A](val value: A)
